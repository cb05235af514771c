import type { DeliveryMeta, DeliveryReceipt, Response, WakeReceipt } from "./contract.js";
import { DeliveryFailedError, TimeoutError } from "./errors.js";
import { type Login, isWhole, proof } from "./login.js";
import type { Options } from "./options.js";

/** Request body of `POST /v1/letters`. */
export interface Letter {
  op: "deliver" | "wake" | "exchange";
  agent: string;
  message: string;
  kind?: "augment" | "template";
  dispatch_id?: string;
  event_type?: string;
  correlation_id?: string;
  origin?: DeliveryMeta["origin"];
  when?: "immediate" | number;
  session_id?: string;
  timeout_ms?: number;
}

/** Response of `POST /v1/letters`. */
export interface Sent {
  dispatched: { ok: boolean; delivered?: DeliveryReceipt; woken?: WakeReceipt; error?: string }[];
  response?: Response;
}

/** Time that a response may take beyond the timeout of the reply. */
const ANSWER_MS = 10_000;

const TIMEOUT_MS = 15_000;

/** A response of the desk, also a refusal. */
export interface Answer {
  status: number;
  /** The JSON of the body. `undefined`: it is none. */
  body: unknown;
}

/** HTTP client of a desk. */
export class Desk {
  /** Checks the options. */
  static open(options: Options): Desk {
    const url = new URL(options.url);
    if (url.protocol !== "https:" && url.protocol !== "http:") {
      throw new TypeError("url: the desk is reached by http or https");
    }
    if (!isWhole(options.login)) {
      throw new TypeError("login: give gateway and secret, or token");
    }
    return new Desk(url.href.replace(/\/+$/, ""), options.login, options.timeout_ms ?? TIMEOUT_MS);
  }

  constructor(
    private readonly url: string,
    private readonly login: Login,
    private readonly timeout_ms: number,
  ) {}

  /** Sends a GET request. */
  async get(path: string): Promise<unknown> {
    return this.ask(path, "the desk", { method: "GET" }, this.timeout_ms);
  }

  /** Sends a letter. After a network error it retries once: the desk recognises a letter by its id. */
  async send(letter: Letter): Promise<Sent> {
    const init = {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(letter),
    };
    const wait = letter.timeout_ms === undefined ? this.timeout_ms : letter.timeout_ms + ANSWER_MS;
    const ask = () => this.ask("/v1/letters", letter.agent, init, wait);
    try {
      return (await ask()) as Sent;
    } catch (error) {
      if (error instanceof DeliveryFailedError && error.cause_kind === "network") {
        return (await ask()) as Sent;
      }
      throw error instanceof NoReply ? new TimeoutError(letter.timeout_ms ?? wait) : error;
    }
  }

  /**
   * Makes a request to the shelf, and repeats it once after a network error: a repeat changes nothing there. Every
   * response is an answer.
   */
  async shelf(method: "GET" | "POST", path: string, body?: object): Promise<Answer> {
    const init: RequestInit =
      body === undefined
        ? { method }
        : { method, headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
    const fetchOnce = () => this.fetch(path, "the desk", init, this.timeout_ms);
    try {
      return await fetchOnce();
    } catch (error) {
      if (error instanceof DeliveryFailedError && error.cause_kind === "network") return fetchOnce();
      throw error;
    }
  }

  private async ask(path: string, agent: string, init: RequestInit, wait_ms: number): Promise<unknown> {
    const { status, body } = await this.fetch(path, agent, init, wait_ms);
    if (status < 200 || status > 299) {
      throw refused(agent, status, body);
    }
    if (body === undefined) {
      throw new DeliveryFailedError(agent, "malformed_response", "the answer is no JSON", status);
    }
    return body;
  }

  private async fetch(path: string, agent: string, init: RequestInit, wait_ms: number): Promise<Answer> {
    const headers = { ...init.headers, authorization: `Bearer ${await proof(this.login)}` };
    const signal = AbortSignal.timeout(wait_ms);
    let answer: globalThis.Response;
    let text: string;
    try {
      answer = await fetch(`${this.url}${path}`, { ...init, headers, signal, redirect: "manual" });
      text = await answer.text();
    } catch (error) {
      const kind = signal.aborted ? "timeout" : "network";
      throw new DeliveryFailedError(agent, kind, String((error as Error).message));
    }
    return { status: answer.status, body: read(text) };
  }
}

/** The desk's 504 response: the agent did not reply in time. */
class NoReply extends Error {}

function read(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function refused(agent: string, status: number, body: unknown): Error {
  const said = (body ?? {}) as { detail?: unknown; title?: unknown };
  const words = [said.title, said.detail].filter((word) => typeof word === "string").join(": ");
  if (status === 504) {
    return new NoReply(words);
  }
  const kind = status === 400 || status === 404 ? "client_validation" : "http_status";
  return new DeliveryFailedError(agent, kind, words || `status ${status}`, status);
}
