import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { createInterface } from "node:readline";

const START_MS = 60_000;
const STOP_MS = 30_000;

/** What `nightdesk dev --json` prints. */
export interface RealDesk {
  chat: string;
  url: string;
  gateway: string;
  secret: string;
}

/** Starts a trial desk, which the end of the test stops. */
export async function startDesk(t: { after: (end: () => Promise<void>) => void }, binary: string): Promise<RealDesk> {
  const listen = `127.0.0.1:${await freePort()}`;
  const child = spawn(binary, ["dev", "--json", "--listen", listen], { stdio: ["ignore", "pipe", "ignore"] });
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

async function freePort(): Promise<number> {
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

  /** Writes until an answer appears: a trial desk has an agent of its own, which takes the line over again and again. */
  async ask(text: string, answer: string): Promise<void> {
    for (let round = 0; round < 20; round++) {
      await this.write(text);
      for (let look = 0; look < 10; look++) {
        if ((await this.read()).includes(answer)) return;
        await new Promise((resolve) => setTimeout(resolve, 200));
      }
    }
    throw new Error(`no answer ${answer}`);
  }
}
