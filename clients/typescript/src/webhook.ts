import { Delivered } from "./entry.js";
import { VerificationError } from "./errors.js";
import { readFrame } from "./frame.js";
import { readBody } from "./http.js";
import * as limits from "./limits.js";
import { hmacSha256, isSameText } from "./login.js";
import type { Op } from "./wire.js";

/** The turn does not end with its response: the agent acknowledges the entry later, with `Poll.ack`. */
export const LATER = Symbol("later");

/** The answer to an entry: a text for its chat, or actions. Nothing acknowledges the entry without an answer. */
export type Answer = string | { text?: string; actions?: (Op & { chat_id?: string })[] } | typeof LATER | undefined;
type Secrets = string | string[];
type Handle = (entry: Delivered) => Answer | Promise<Answer>;

/** Returns the id of a webhook, or throws a `VerificationError`: for requests that a proxy has verified and signed anew. */
export type Verify = (request: Request, body: string) => string | Promise<string>;

/**
 * Verifies a webhook of the desk (Standard Webhooks), and returns its id: that of the entry, or of a stop. During a
 * rotation an agent has two secrets.
 */
export function verifyWebhook(secrets: Secrets, headers: Headers, body: string, nowMs = Date.now()): string {
  const [id, timestamp, signatures] = ["id", "timestamp", "signature"].map((name) => headers.get(`webhook-${name}`));
  if (!id || !timestamp || !signatures || !/^\d{1,12}$/.test(timestamp)) {
    throw new VerificationError("the request is no webhook: it has no id, timestamp or signature");
  }
  if (Math.abs(nowMs - Number(timestamp) * 1000) > limits.WEBHOOK_TOLERANCE) {
    throw new VerificationError("the webhook is too old, or one of the clocks is wrong");
  }
  const signed = `${id}.${timestamp}.${body}`;
  const expected = keysOf(secrets).map((key) => `v1,${hmacSha256(key, signed).toString("base64")}`);
  const shown = signatures.split(" ");
  if (expected.some((signature) => shown.some((other) => isSameText(other, signature)))) return id;
  throw new VerificationError("no secret of this agent signed the webhook");
}

function keysOf(secrets: Secrets): Buffer[] {
  const keys = [secrets].flat().map((secret) => Buffer.from(secret.replace(/^whsec_/, ""), "base64"));
  if (keys.length > 0 && keys.every((key) => key.length >= limits.WEBHOOK_KEY_BYTES_MIN)) return keys;
  throw new TypeError("the secret of a webhook is `whsec_` and base64; use the one that the desk printed");
}

/**
 * Returns a fetch handler for a desk that posts entries, by its secrets or by a check of your own. A returned answer
 * acknowledges the entry; an error is a try, and the entry comes again. A repeated post of an entry whose turn still runs
 * waits for the same answer.
 */
export function webhookHandler(by: Secrets | Verify, handle: Handle): (request: Request) => Promise<Response> {
  if (typeof by !== "function") keysOf(by);
  const verify: Verify = typeof by === "function" ? by : ({ headers }, body) => verifyWebhook(by, headers, body);
  const running = new Map<string, { entry: Delivered; answer: Promise<Answer> }>();

  const take = async (id: string, body: string): Promise<Response> => {
    const frame = readFrame(body);
    if (frame?.type === "interrupt") {
      const stopped = [...running.values()].find(({ entry }) => entry.session === frame.session_key);
      stopped?.entry.stop();
      return Response.json({ stopped: stopped !== undefined });
    }
    if (frame?.type !== "entry") return respond(400);
    const held = running.get(id);
    if (held) return answerWith(await held.answer);
    if (running.size >= limits.WEBHOOKS_MAX) return respond(503, { "retry-after": String(limits.WEBHOOK_RETRY_SECS) });
    const entry = new Delivered({ ...frame, id });
    const turn = Promise.resolve(entry).then(handle);
    const answer = turn.finally(() => running.delete(id));
    running.set(id, { entry, answer });
    return answerWith(await answer);
  };

  return async (request) => {
    if (request.method !== "POST") return respond(405, { allow: "POST" });
    const bytes = await readBody(request.body, limits.WEBHOOK_BYTES_MAX);
    if (bytes === undefined) return respond(413);
    const body = new TextDecoder().decode(bytes);
    try {
      return await take(await verify(request, body), body);
    } catch (error) {
      if (error instanceof VerificationError) return respond(401);
      // The error's text may contain a message.
      console.error(`nightdesk: the turn of a webhook failed: ${error instanceof Error ? error.name : "error"}`);
      return respond(500);
    }
  };
}

function respond(status: number, headers: Record<string, string> = {}): Response {
  return new Response(null, { status, headers });
}

function answerWith(answer: Answer): Response {
  if (answer === LATER) return respond(202);
  if (answer === undefined || answer === "") return respond(204);
  const isText = typeof answer === "string";
  const body = isText ? answer : JSON.stringify(answer);
  if (Buffer.byteLength(body) > limits.WEBHOOK_BYTES_MAX) throw new RangeError("the answer is too long");
  return new Response(body, { headers: { "content-type": isText ? "text/plain; charset=utf-8" : "application/json" } });
}
