import type { DeliveryMeta, DeliveryReceipt, Response, WakeReceipt } from "./contract.js";
import { DeliveryFailedError, TimeoutError } from "./errors.js";
import { type Login, proof } from "./login.js";

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

/** HTTP client of a desk. */
export class Desk {
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

  private async ask(path: string, agent: string, init: RequestInit, wait_ms: number): Promise<unknown> {
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
    const body = read(text);
    if (!answer.ok) {
      throw refused(agent, answer.status, body);
    }
    if (body === undefined) {
      throw new DeliveryFailedError(agent, "malformed_response", "the answer is no JSON", answer.status);
    }
    return body;
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
