import { CallError } from "./errors.js";
import { object, texts } from "./frame.js";
import { BODY_WAIT, CALL_WAIT, RESPONSE_BYTES_MAX } from "./limits.js";
import { type Login, bearer, checkLogin, deskUrl } from "./login.js";
import { after, readRetryAfter } from "./timing.js";

/** A call to the desk: a GET, or a POST if it has a body. A body that is not bytes is sent as JSON. */
export type Call = { body?: object; headers?: Record<string, string>; waitMs?: number; bytesMax?: number };

/** Calls a desk over HTTP. Nothing is retried: `CallError.passes` tells if a retry may succeed. */
export class DeskHttp {
  /** The desk's URL without a trailing slash. */
  readonly url: string;
  readonly #login: Login;

  constructor({ url, login }: { url: string; login: Login }) {
    [this.url, this.#login] = [deskUrl(url), login];
    checkLogin(login);
  }

  /** Sends a request, and returns the bytes of a successful response. */
  async bytes(what: string, path: string, call: Call = {}): Promise<Uint8Array> {
    const { body, headers = { "content-type": "application/json" }, waitMs = CALL_WAIT } = call;
    const sent = body === undefined || body instanceof Uint8Array ? body : JSON.stringify(body);
    const signal = AbortSignal.timeout(waitMs);
    let response: Response;
    let read: Uint8Array | undefined;
    try {
      const token = await Promise.race([bearer(this.#login), after(waitMs)]);
      const init = { method: sent === undefined ? "GET" : "POST", body: sent, signal };
      const authorization = `Bearer ${token ?? ""}`;
      // The token is for the desk alone, so a redirect is not followed.
      const redirect = "manual";
      response = await fetch(`${this.url}${path}`, { ...init, redirect, headers: { ...headers, authorization } });
      read = await readBody(response.body, call.bytesMax ?? RESPONSE_BYTES_MAX, waitMs);
    } catch (cause) {
      throw new CallError(what, "the desk did not respond", "no-answer", undefined, cause);
    }
    if (read === undefined) throw new CallError(what, "the desk's response is too long", "unreadable");
    if (response.ok) return read;
    const { detail = "the desk gave no reason", code = "" } = texts(parseObject(read));
    const retryAfterMs = readRetryAfter(response.headers.get("retry-after"));
    throw new CallError(what, detail, code, response.status, undefined, retryAfterMs);
  }

  /** Sends a request, and returns the JSON object or list of a successful response. */
  async json<T>(what: string, path: string, call?: Call): Promise<T> {
    const body = new TextDecoder().decode(await this.bytes(what, path, call));
    try {
      return JSON.parse(body) as T;
    } catch (cause) {
      throw new CallError(what, "the desk's response is not JSON", "unreadable", undefined, cause);
    }
  }

  /** Returns what may not exist. Undefined: it does not. */
  async find<T>(what: string, path: string): Promise<T | undefined> {
    return this.json<T>(what, path).catch((error: unknown) => {
      if (error instanceof CallError && error.status === 404) return undefined;
      throw error;
    });
  }
}

/** Reads a body. Undefined: it is too long, or took too long. */
export async function readBody(body: Request["body"], max: number, waitMs = BODY_WAIT): Promise<Buffer | undefined> {
  if (body === null) return Buffer.alloc(0);
  const reader = body.getReader() as ReadableStreamDefaultReader<Uint8Array>;
  const [late, chunks] = [after(waitMs), [] as Uint8Array[]];
  try {
    for (let bytes = 0; bytes <= max; bytes += chunks.at(-1)?.length ?? 0) {
      const part = await Promise.race([reader.read(), late]);
      if (part === undefined) return undefined;
      if (part.done) return Buffer.concat(chunks);
      chunks.push(part.value);
    }
    return undefined;
  } finally {
    // Of a stream that is done or broken, nothing is left to cancel.
    await reader.cancel().catch(() => undefined);
  }
}

/** Parses an object. Of anything else it is empty. */
export function parseObject(bytes: Uint8Array): Record<string, unknown> {
  try {
    return object(JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes)));
  } catch {
    return {};
  }
}

/** Escapes a text for a path. Two dots would lead to the parent, even if they are escaped. */
export function segment(text: string): string {
  if (/^\.{0,2}$/.test(text)) throw new TypeError("not a name or an id");
  return encodeURIComponent(text);
}
