import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";

const START_MS = 60_000;
const STOP_MS = 30_000;
const ANSWER_MS = 30_000;

/** What `nightdesk dev --json` prints. */
export interface RealDesk {
  chat: string;
  url: string;
  gateway: string;
  secret: string;
  /** The secret of the webhook, with `--webhook`. */
  webhook_secret?: string;
}

/** The name of a `nightdesk` binary. Without it, the tests against a real desk are skipped. */
export const binary = process.env.NIGHTDESK_BIN ?? "";
export const REAL = { skip: binary === "" ? "NIGHTDESK_BIN names no desk" : false, timeout: 300_000 };

/** A test, in any framework. */
type Ending = { after: (end: () => Promise<void>) => void };

/** Starts a trial desk, which the end of the test stops. */
export async function startDesk(t: Ending, ...options: string[]): Promise<RealDesk> {
  const words = ["dev", "--json", "--listen", `127.0.0.1:${await freePort()}`, ...options];
  const child = spawn(binary, words, { stdio: ["ignore", "pipe", "ignore"] });
  t.after(() => stop(child));
  const signal = AbortSignal.timeout(START_MS);
  for await (const line of createInterface({ input: child.stdout, signal })) {
    if (line.startsWith("{")) return JSON.parse(line) as RealDesk;
  }
  throw new Error("the desk did not start");
}

/** Ctrl-C, so that the desk stops its PostgreSQL and removes its files. */
async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  child.kill("SIGINT");
  await once(child, "exit", { signal: AbortSignal.timeout(STOP_MS) });
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

/** A person in front of the desk's web chat. */
export class Person {
  #cookie = "";

  constructor(private readonly chat: string) {}

  async write(text: string): Promise<void> {
    if (this.#cookie === "") await this.read();
    const headers = { cookie: this.#cookie, "content-type": "application/json" };
    const body = JSON.stringify({ nonce: crypto.randomUUID(), text });
    const response = await fetch(`${this.chat}/messages`, { method: "POST", headers, body });
    if (!response.ok) throw new Error(`the page refused a message with ${response.status}`);
  }

  /** Returns the texts of the agent on the page. */
  async read(): Promise<string[]> {
    const response = await fetch(this.chat, { headers: { cookie: this.#cookie } });
    const [cookie] = response.headers.getSetCookie();
    if (cookie !== undefined) this.#cookie = cookie.split(";")[0] ?? "";
    const lines = (await response.text()).split("<li ").filter((line) => line.startsWith('class="line agent"'));
    return lines.map((line) => /<div class="bubble"><p>(.*?)<\/p>/.exec(line)?.[1] ?? "");
  }

  /** Writes, and waits until an answer appears. */
  async ask(text: string, answer: string): Promise<void> {
    await this.write(text);
    await this.sees(answer);
  }

  /** Waits until the agent's last text on the page is this one. */
  async sees(answer: string): Promise<void> {
    const until = Date.now() + ANSWER_MS;
    while (Date.now() < until) {
      if ((await this.read()).at(-1) === answer) return;
      await sleep(100);
    }
    throw new Error(`no answer ${answer}, but ${(await this.read()).join("; ")}`);
  }
}
