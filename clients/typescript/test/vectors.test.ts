import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";

import { readFrame } from "../src/frame.js";
import { type Source, sessionKey, upgradeToken } from "../src/index.js";
import { CLIENT } from "../src/line.js";
import { lineUrl } from "../src/login.js";

/** The folder of the language-neutral vectors, from `dist/test`. */
const TESTS = new URL("../../../../crates/protocol/tests/", import.meta.url);

function vectors(name: string): unknown {
  return JSON.parse(readFileSync(new URL(`vectors/${name}`, TESTS), "utf8"));
}

test("makes the tokens of the stock client", () => {
  interface Case {
    name: string;
    fn: string;
    now_at_mint: number;
    payload: string;
    secret: string;
    ttl_seconds: number | null;
    token: string;
    decoded: string | null;
  }
  // Only tokens with an expiry, as they were made: the others were altered afterwards.
  const isMade = ({ decoded, now_at_mint, payload, ttl_seconds }: Case) => {
    const expiry = now_at_mint + (ttl_seconds ?? 300);
    return (ttl_seconds ?? 300) > 0 && decoded?.startsWith(`${payload}:${expiry}:`);
  };
  const altered = [
    "tampered last hex digit",
    "upper-case hex signature accepted",
    "with padding kept",
    "standard-alphabet chars",
    "truncated token",
  ];
  const cases = (vectors("upgrade_tokens.json") as Case[]).filter((one) => isMade(one) && !altered.includes(one.name));
  assert(cases.length >= 10, String(cases.length));
  for (const { name, payload, secret, now_at_mint, ttl_seconds, token } of cases) {
    const nowMs = now_at_mint * 1000 + 999;
    assert.equal(upgradeToken(payload, secret, nowMs, ttl_seconds ?? undefined), token, name);
  }
});

test("computes the session keys of the clients", () => {
  interface Case {
    source: Source;
    key: string | null;
    options?: unknown;
    note?: string;
  }
  const event = (source: unknown) => {
    const frame = readFrame(JSON.stringify({ type: "inbound", event: { source } }));
    assert(frame?.type === "entry");
    return frame.event.source;
  };
  let count = 0;
  for (const { source, key, options, note } of vectors("session_keys.json") as Case[]) {
    // The newest client differs on Slack, options are not ours, and of these values no key is made.
    const isChanged = source.platform === "slack" && source.scope_id !== undefined;
    if (options !== undefined || isChanged || key === null) continue;
    // A frame's source has one of the known kinds of chat.
    const isKnown = ["dm", "group", "channel", "thread", "forum", undefined].includes(source.chat_type);
    // To a client in Python, the number 0 is no id.
    if (!isKnown || Object.values(source).includes(0)) continue;
    assert.equal(sessionKey(event(source)), key, note ?? JSON.stringify(source));
    count += 1;
  }
  assert(count >= 70, String(count));
});

test("computes the keys that changed in the newest client", () => {
  const source = {
    platform: "slack",
    chat_id: "D0",
    chat_type: "dm",
    user_id: "U0",
    thread_id: null,
    scope_id: "T0",
  } as const;
  const discord = {
    ...source,
    platform: "discord",
    chat_id: "c1",
    chat_type: "group",
    prospective_thread_id: "m1",
  } as const;
  const cases = [
    [source, "agent:main:slack:dm:T0:D0"],
    [{ ...source, thread_id: "1.2" }, "agent:main:slack:dm:T0:D0:1.2"],
    [{ ...source, chat_id: "" }, "agent:main:slack:dm:T0:U0"],
    [{ ...source, chat_type: "group" as const }, "agent:main:slack:group:T0:D0:U0"],
    [discord, "agent:main:discord:thread:c1:m1"],
    [{ ...discord, chat_type: "dm" as const }, "agent:main:discord:dm:c1"],
    [{ ...discord, thread_id: "t1" }, "agent:main:discord:group:c1:t1"],
  ] as const;
  for (const [from, want] of cases) assert.equal(sessionKey(from), want);
});

test("reads what was captured between a gateway and a connector", () => {
  const lines = readFileSync(new URL("vectors/hermes_frames.jsonl", TESTS), "utf8").trim().split("\n");
  const captured = lines.map((line) => JSON.parse(line) as { dir: string; frame: Record<string, unknown> });
  const types = new Set<unknown>();
  for (const { frame } of captured.filter(({ dir }) => dir === "connector->gateway")) {
    const read = readFrame(JSON.stringify(frame));
    types.add(frame.type);
    if (read?.type === "entry" && frame.type === "inbound") {
      const { source, text } = read.event;
      assert.equal(text, (frame.event as { text: string }).text);
      assert.equal(source.chat_id, (frame.event as { source: Source }).source.chat_id);
      assert.equal(read.id, frame.bufferId);
    } else if (read?.type === "result") {
      assert.deepEqual(read.result, frame.result);
    } else {
      assert(read !== undefined, JSON.stringify(frame));
    }
  }
  assert.deepEqual([...types].sort(), [
    ...["descriptor", "going_idle_ack", "inbound", "interrupt_inbound", "outbound_result", "passthrough_forward"],
  ]);
});

test("reads every frame of the desk's snapshots without a loss", () => {
  const folder = new URL("wire/snapshots/", TESTS);
  const lines = readdirSync(folder).flatMap((name) => readFileSync(new URL(name, folder), "utf8").split("\n"));
  const frames = lines.filter((line) => line.startsWith("{")).map((line) => JSON.parse(line) as Record<string, object>);
  const read = frames.map((frame) => readFrame(JSON.stringify(frame)));
  const parts = read.map((frame, at) => {
    switch (frame?.type) {
      case "descriptor":
        return [frame.descriptor, frames[at]?.descriptor];
      case "entry":
        return frame.forward ? [frame.forward, frames[at]?.forward] : [frame.event, frames[at]?.event];
      case "result":
        return [frame.result, frames[at]?.result];
      default:
        return [];
    }
  });
  for (const [ours, theirs] of parts) assert.deepEqual(ours, theirs);
  assert(parts.filter((part) => part.length > 0).length >= 12);
});

test("unknown values count as the contract says", () => {
  const frame = (value: object) => readFrame(JSON.stringify(value));
  const source = { platform: "discord", chat_id: 7, chat_type: "stage", thread_id: {}, is_bot: 1 };
  const read = frame({ type: "inbound", event: { text: 3, message_type: "poll", source }, bufferId: "b" });
  assert(read?.type === "entry");
  assert.deepEqual([read.event.text, read.event.message_type, read.event.message_id], ["3", "text", null]);
  const { chat_id, chat_type, thread_id, is_bot } = read.event.source;
  assert.deepEqual([chat_id, chat_type, thread_id, is_bot], ["7", "group", null, true]);
  const descriptor = frame({ type: "descriptor", descriptor: { platform: "discord", len_unit: "bytes" } });
  assert(descriptor?.type === "descriptor");
  assert.equal(descriptor.descriptor.len_unit, "chars");
  assert.deepEqual(descriptor.descriptor.supported_ops, ["send", "edit", "typing", "follow_up"]);
  for (const line of ["", "7", "null", "[]", "{", '{"type":"new"}', '{"type":"outbound_result","result":{}}']) {
    assert.equal(readFrame(line), undefined, line);
  }
});

test("dials where every client dials", () => {
  const cases = [
    ["https://desk.example", "wss://desk.example/relay"],
    ["wss://desk.example/relay/", "wss://desk.example/relay"],
    [" http://desk:1/x ", "ws://desk:1/x/relay"],
    ["WS://[::1]:8800", "ws://[::1]:8800/relay"],
  ] as const;
  for (const [base, want] of cases) assert.equal(lineUrl(base), want);
  for (const base of ["desk.example", "ftp://desk.example", "https://"]) assert.throws(() => lineUrl(base), base);
});

test("the client names its own version", () => {
  const manifest = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
    version: string;
  };
  assert.equal(CLIENT.version, manifest.version);
});
