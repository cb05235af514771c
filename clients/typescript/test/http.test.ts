import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";

import {
  AmbiguousError,
  BusyError,
  CallError,
  FailedError,
  Media,
  NoLineError,
  Peers,
  Poll,
  UnknownError,
  upgradeToken,
} from "../src/index.js";
import { descriptor, inbound } from "./fake-desk.js";
import { FakeHttp } from "./fake-http.js";

const LOGIN = { gateway: "gw-1", secret: "canary-secret" };
const LETTER = { agent: "owl", message: "How is the weather?", dispatch_id: "weather-1" };

async function open(t: TestContext): Promise<{ fake: FakeHttp; peers: Peers }> {
  const fake = await FakeHttp.open(t);
  return { fake, peers: new Peers({ url: `${fake.url}/`, login: LOGIN }) };
}

test("a call shows a fresh token, and a given token as it is", async (t) => {
  const { fake, peers } = await open(t);
  fake.will([200, { agents: [] }], [200, { agents: [] }]);
  assert.deepEqual(await peers.listAgents(), []);
  let count = 0;
  await new Peers({ url: fake.url, login: { token: () => `token-${++count}` } }).listAgents();

  const [first, second] = fake.asked.map(({ headers }) => headers.authorization);
  const now = Date.now();
  const fresh = [0, 1, 2, 3].map((secs) => `Bearer ${upgradeToken("gw-1", "canary-secret", now - secs * 1000)}`);
  assert(fresh.includes(first ?? ""));
  assert.equal(second, "Bearer token-1");
});

test("each way of a letter is its own operation", async (t) => {
  const { fake, peers } = await open(t);
  const sent = {
    agent: "owl",
    dispatch_id: "weather-1",
    dispatched: [{ connector: "road", ok: true, route: "deliver" }],
  };
  fake.will([200, sent], [200, sent], [200, sent], [200, { ...sent, response: { content: "rain" } }]);
  assert.deepEqual(await peers.notify(LETTER), sent);
  await peers.deliver({ ...LETTER, kind: "template" });
  await peers.wake({ ...LETTER, when: 1_800_000_000_000 });
  assert.equal((await peers.exchange(LETTER, 600_000)).content, "rain");

  assert.deepEqual(fake.calls(), [
    ["POST", "/v1/letters", { op: "notify", ...LETTER }],
    ["POST", "/v1/letters", { op: "deliver", ...LETTER, kind: "template" }],
    ["POST", "/v1/letters", { op: "wake", ...LETTER, when: 1_800_000_000_000 }],
    ["POST", "/v1/letters", { op: "exchange", ...LETTER, timeout_ms: 300_000 }],
  ]);
});

test("what is read and does not exist is undefined, and a name leads nowhere else", async (t) => {
  const { fake, peers } = await open(t);
  fake.will(
    [404, {}],
    [200, { letters: [] }],
    [200, { letters: [] }],
    [404, {}],
    [200, { source: "x" }],
    [404, {}],
    [404, {}],
  );
  assert.equal(await peers.letter("a/b?c"), undefined);
  assert.deepEqual(await peers.letters(), []);
  assert.deepEqual(await peers.letters("l1&x"), []);
  assert.equal(await peers.skillRead("brief"), undefined);
  assert.equal((await peers.skillRead("brief", "0123"))?.source, "x");
  assert.equal(await peers.skillVersions("brief"), undefined);
  assert.equal(await peers.dataRead("d1"), undefined);
  for (const name of ["", ".", ".."]) assert.throws(() => peers.skillRead(name), /not a name/);

  assert.deepEqual(fake.calls(), [
    ["GET", "/v1/letters/a%2Fb%3Fc"],
    ["GET", "/v1/letters"],
    ["GET", "/v1/letters?before=l1%26x"],
    ["GET", "/v1/skills/brief"],
    ["GET", "/v1/skills/brief?version=0123"],
    ["GET", "/v1/skills/brief/versions"],
    ["GET", "/v1/data/d1"],
  ]);
});

test("skills and data are written and found", async (t) => {
  const { fake, peers } = await open(t);
  fake.will([200, { skills: [] }], [200, {}], [200, {}], [200, { items: [{ id: "d1" }] }], [200, { id: "d1" }]);
  await peers.skillList({ domain_tags: "day,mail", status: "Draft" });
  await peers.skillWrite({ name: "brief", source: "# Skill: brief\n", overwrite: true });
  await peers.skillStatus("brief", "Approved");
  assert.deepEqual(await peers.dataQuery("kettle", { limit: 3, pinned: true }), [{ id: "d1" }]);
  assert.equal((await peers.dataWrite({ content: "The kettle is blue.", tags: ["kitchen"] })).id, "d1");

  assert.deepEqual(fake.calls(), [
    ["GET", "/v1/skills?domain_tags=day%2Cmail&status=Draft"],
    ["POST", "/v1/skills", { name: "brief", source: "# Skill: brief\n", overwrite: true }],
    ["POST", "/v1/skills/brief/status", { status: "Approved" }],
    ["POST", "/v1/data/query", { limit: 3, pinned: true, query: "kettle" }],
    ["POST", "/v1/data", { content: "The kettle is blue.", tags: ["kitchen"] }],
  ]);
});

test("an error tells its reason, and whether the same call may succeed later", async (t) => {
  const { fake, peers } = await open(t);
  const problem = { code: "no-reply", detail: "the agent did not reply in time" };
  const cases: [string, Parameters<FakeHttp["will"]>[0], number | undefined, string, boolean][] = [
    ["no reply", [504, problem], 504, "no-reply", true],
    ["too often", [429, { code: "too-many-requests", detail: "wait" }], 429, "too-many-requests", true],
    ["refused", [403, { code: "letter-refused", detail: "no grant" }], 403, "letter-refused", false],
    ["no problem", [500, "?"], 500, "", true],
    ["a redirect is not followed", [302, {}], 302, "", false],
    ["no JSON", [200, Buffer.from("<html>")], undefined, "unreadable", false],
    ["too long", [200, Buffer.alloc(512 * 1024 + 1)], undefined, "unreadable", false],
    ["a break", "hangs up", undefined, "no-answer", true],
  ];
  for (const [name, answer, status, code, passes] of cases) {
    fake.will(answer);
    const error: unknown = await peers.notify(LETTER).catch((failed: unknown) => failed);
    assert(error instanceof CallError, name);
    assert.deepEqual([error.status, error.code, error.passes], [status, code, passes], name);
    assert.doesNotMatch(error.message, /canary/, name);
  }
  assert.equal(fake.asked.length, cases.length, "nothing is repeated");
});

test("files are sent and fetched by reference, and the token stays with its desk", async (t) => {
  const { fake } = await open(t);
  const media = new Media({ url: fake.url, login: LOGIN });
  const id = "0123456789abcdef0123456789abcdef";
  const bytes = Buffer.from([0, 255, 10]);
  fake.will([200, { id, size: 3 }], [200, bytes]);
  const url = await media.upload(bytes, "image/png", "a.png");
  assert.equal(url, `${fake.url}/relay/media/${id}`);
  assert.deepEqual([...(await media.download(`https://elsewhere.example/relay/media/${id}`))], [...bytes]);

  const [put, get] = fake.asked;
  assert.deepEqual([put?.method, put?.path, put?.headers["content-type"]], ["POST", "/relay/media", "image/png"]);
  assert.deepEqual([put?.headers["x-media-filename"], put?.body], ["a.png", bytes]);
  assert.deepEqual([get?.method, get?.path], ["GET", `/relay/media/${id}`]);
  await assert.rejects(media.download("https://elsewhere.example/a.png"), /not a reference/);
});

function polling(fake: FakeHttp): Poll {
  return new Poll({ url: fake.url, login: LOGIN, bots: [{ platform: "discord", id: "b1" }] });
}

test("polling opens a line, sends back its newest name, and acks", async (t) => {
  const { fake } = await open(t);
  const poll = polling(fake);
  const window = { line: "L1", descriptors: [descriptor()], frames: [inbound("e1"), { type: "new" }] };
  fake.will([200, window], [204], [200, { line: "L2", frames: [] }], [204]);
  const taken = await poll.take();
  assert.deepEqual(
    taken.map(({ id, text }) => [id, text]),
    [["e1", "text of e1"]],
  );
  await poll.ack("e1");
  assert.deepEqual(await poll.take(600), []);
  await poll.goIdle();

  const calls = fake.calls();
  const [method, path, opening] = calls[0] ?? [];
  assert.deepEqual([method, path], ["POST", "/v1/line/take"]);
  const { client, ...rest } = opening as { client: { name: string } };
  assert.deepEqual(rest, { wait_seconds: 25, hellos: [{ platform: "discord", botId: "b1" }] });
  assert.equal(client.name, "nightdesk-typescript");
  assert.deepEqual(calls.slice(1), [
    ["POST", "/v1/line/ack", { line: "L1", buffer_ids: ["e1"] }],
    ["POST", "/v1/line/take", { line: "L1", wait_seconds: 55 }],
    ["POST", "/v1/line/idle", { line: "L2" }],
  ]);
});

test("an entry of a webhook is answered and acknowledged later, without a line", async (t) => {
  const { fake } = await open(t);
  const poll = polling(fake);
  fake.will([200, { success: true, message_id: "m4" }], [204]);
  assert.equal((await poll.send({ platform: "discord", chat_id: "c1", botId: "b1" }, "hi")).message_id, "m4");
  await poll.ack("e1", "e2");

  const [send, ack] = fake.calls();
  const { request_id, ...body } = send?.[2] as Record<string, unknown>;
  const action = { op: "send", content: "hi", chat_id: "c1", metadata: {} };
  assert.deepEqual([typeof request_id, body], ["string", { platform: "discord", bot_id: "b1", action }]);
  assert.deepEqual(ack, ["POST", "/v1/line/ack", { buffer_ids: ["e1", "e2"] }]);
});

test("a refusal tells when the call may come again", async (t) => {
  const { fake, peers } = await open(t);
  for (const [header, want] of [
    ["2", 2_000],
    ["86400", 60_000],
    ["soon", 0],
    [undefined, 0],
  ] as const) {
    fake.will([503, {}, header === undefined ? {} : { "retry-after": header }]);
    await assert.rejects(peers.listAgents(), (error: unknown) => (error as CallError).retryAfterMs === want, header);
  }
});

test("polling gives a repeated entry once, and only acks one that was handled", async (t) => {
  const { fake } = await open(t);
  const poll = polling(fake);
  fake.will("hangs up", [200, { line: "L1", frames: [inbound("e1")] }], [200, { line: "L1", frames: [inbound("e1")] }]);
  await assert.rejects(poll.take(), (error: unknown) => error instanceof CallError && error.passes);
  assert.equal((await poll.take()).length, 1);
  assert.equal((await poll.take()).length, 0, "it is in work");

  fake.will([410, { code: "line-gone" }], [200, { line: "M1", frames: [inbound("e1")] }], [200, {}]);
  await assert.rejects(poll.ack("e1"), (error: unknown) => error instanceof CallError && error.status === 410);
  fake.calls();
  assert.equal((await poll.take()).length, 0, "it was handled");
  const [take, ack] = fake.calls();
  assert(!JSON.stringify(take).includes("L1"), "a new line");
  assert.deepEqual(ack, ["POST", "/v1/line/ack", { line: "M1", buffer_ids: ["e1"] }]);
});

test("polling fires the signal of a stopped entry, and answers a stop with an id", async (t) => {
  const { fake } = await open(t);
  const poll = polling(fake);
  const stop = { type: "interrupt_inbound", session_key: "agent:main:discord:dm:c1", chat_id: "", stop_id: "s1" };
  fake.will([200, { line: "L1", frames: [inbound("e1")] }], [200, { line: "L2", frames: [stop] }], [204]);
  const [entry] = await poll.take();
  await poll.take();

  assert.equal(entry?.signal.aborted, true);
  assert.deepEqual(fake.calls().at(-1), ["POST", "/v1/line/stopped", { line: "L2", stop_id: "s1", stopped: true }]);
});

test("a send over HTTP has the outcomes of a send", async (t) => {
  const { fake } = await open(t);
  const poll = polling(fake);
  const place = { platform: "discord", chat_id: "c1" };
  fake.will([410, { code: "line-gone" }]);
  await assert.rejects(poll.send(place, "hi"), NoLineError);
  fake.calls();
  fake.will([200, { line: "L1", frames: [] }], [200, { success: true, message_id: "m4" }]);
  await poll.take();
  assert.equal((await poll.send(place, "hi")).message_id, "m4");
  const [, send] = fake.calls();
  const { request_id, ...body } = (send?.[2] ?? {}) as Record<string, unknown>;
  assert.match(String(request_id), /^[0-9a-f]{40}$/);
  const action = { op: "send", content: "hi", chat_id: "c1", metadata: {} };
  assert.deepEqual(body, { line: "L1", platform: "discord", action });

  const cases: [string, Parameters<FakeHttp["will"]>[0], new (...args: never[]) => Error][] = [
    ["lost", "hangs up", UnknownError],
    ["unavailable", [503, {}], UnknownError],
    ["too often", [429, {}], BusyError],
    ["malformed", [400, {}], FailedError],
    ["ambiguous", [200, { success: false, ambiguous: true }], AmbiguousError],
    ["gone, and perhaps after the send", [410, {}], UnknownError],
  ];
  for (const [name, answer, kind] of cases) {
    fake.will(answer);
    await assert.rejects(poll.send(place, "hi"), kind, name);
  }
});
