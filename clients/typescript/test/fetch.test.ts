import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "node:test";

import {
  type Answer,
  type Delivered,
  LATER,
  VerificationError,
  WakeCalls,
  verifyWebhook,
  webhookHandler,
} from "../src/index.js";
import { Queue, inbound, settle } from "./fake-desk.js";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const OTHER = `whsec_${Buffer.alloc(24, 7).toString("base64")}`;
const ID = "AAAAAAAAAAAAAAAAAAAABwAAAAAAAAAFAAAAAAAAACo";

function post(body: string, id = ID, secret = SECRET, at = Math.floor(Date.now() / 1000)): Request {
  const key = Buffer.from(secret.slice("whsec_".length), "base64");
  const signature = createHmac("sha256", key).update(`${id}.${at}.${body}`).digest("base64");
  const headers = { "webhook-id": id, "webhook-timestamp": String(at), "webhook-signature": `v1,${signature}` };
  return new Request("http://agent/hook", { method: "POST", body, headers });
}

function entry(id = ID, chat = "c1"): string {
  return JSON.stringify(inbound(id, chat));
}

test("verifies the test vector of Standard Webhooks", () => {
  const headers = (more: Record<string, string> = {}) =>
    new Headers({
      "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
      "webhook-timestamp": "1614265330",
      "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
      ...more,
    });
  const [body, now] = ['{"test": 2432232314}', 1_614_265_330_000];
  const verify = (more = {}, text = body, secrets: string | string[] = SECRET, at = now) =>
    verifyWebhook(secrets, headers(more), text, at);

  assert.equal(verify(), "msg_p5jXN8AQM9LWM0D4loKWxJek");
  assert.equal(verify({}, body, [OTHER, SECRET]), "msg_p5jXN8AQM9LWM0D4loKWxJek", "a rotation");
  const rotated = "v1,AAAA v2,x v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";
  assert.equal(verify({ "webhook-signature": rotated }), "msg_p5jXN8AQM9LWM0D4loKWxJek", "several signatures");
  assert.equal(verify({}, body, SECRET, now + 300_000), "msg_p5jXN8AQM9LWM0D4loKWxJek");
  const refused: [string, () => unknown][] = [
    ["another body", () => verify({}, '{"test":2432232314}')],
    ["another secret", () => verify({}, body, OTHER)],
    ["another id", () => verify({ "webhook-id": "msg_other" })],
    ["another time", () => verify({ "webhook-timestamp": "1614265331" })],
    ["too old", () => verify({}, body, SECRET, now + 301_000)],
    ["too new", () => verify({}, body, SECRET, now - 301_000)],
    ["no time", () => verify({ "webhook-timestamp": "now" })],
    ["no signature", () => verify({ "webhook-signature": "" })],
    ["no id", () => verify({ "webhook-id": "" })],
  ];
  for (const [name, call] of refused) assert.throws(call, VerificationError, name);
  assert.throws(() => webhookHandler("whsec_", () => undefined), /the secret of a webhook/);
});

test("an answer acknowledges the entry, as text, as actions, later, or without a word", async () => {
  const actions: Answer = { text: "hi", actions: [{ op: "react", message_id: "m1", emoji: "👀" }] };
  const cases: [string, Answer, number, string | null][] = [
    ["text", "hé", 200, "text/plain; charset=utf-8"],
    ["actions", actions, 200, "application/json"],
    ["later", LATER, 202, null],
    ["nothing", undefined, 204, null],
  ];
  for (const [name, answer, status, type] of cases) {
    const taken: Delivered[] = [];
    const handler = webhookHandler(SECRET, (delivered) => {
      taken.push(delivered);
      return answer;
    });
    const response = await handler(post(entry()));
    assert.deepEqual([response.status, response.headers.get("content-type")], [status, type], name);
    const want: string = typeof answer === "string" ? answer : answer === actions ? JSON.stringify(actions) : "";
    assert.equal(await response.text(), want, name);
    assert.deepEqual(
      taken.map(({ id, text }) => [id, text]),
      [[ID, `text of ${ID}`]],
      name,
    );
  }
});

test("what is not a webhook of the desk runs nothing", async () => {
  const handler = webhookHandler(SECRET, () => assert.fail("nobody runs"));
  const cases: [string, Request, number][] = [
    ["another method", new Request("http://agent/hook"), 405],
    ["not signed", new Request("http://agent/hook", { method: "POST", body: entry() }), 401],
    ["another secret", post(entry(), ID, OTHER), 401],
    ["too old", post(entry(), ID, SECRET, 1_614_265_330), 401],
    ["no frame", post("hello"), 400],
    ["another frame", post('{"type":"going_idle_ack"}'), 400],
    ["too long", post("x".repeat(1024 * 1024 + 1)), 413],
  ];
  for (const [name, request, status] of cases) assert.equal((await handler(request)).status, status, name);
});

test("a check of one's own takes the place of the secret", async () => {
  const verify = (request: Request, body: string) => {
    if (request.headers.get("x-proof") !== "good") throw new VerificationError("no proof");
    return `id of ${body.length}`;
  };
  const handler = webhookHandler(verify, (delivered) => delivered.id);
  const ask = (proof: string) =>
    handler(new Request("http://agent/hook", { method: "POST", body: entry(), headers: { "x-proof": proof } }));

  assert.equal(await (await ask("good")).text(), `id of ${entry().length}`);
  assert.equal((await ask("bad")).status, 401);
});

test("a turn that fails is a try, and its error's text is not shown", async (t) => {
  const shown = t.mock.method(console, "error", () => undefined);
  const failing = webhookHandler(SECRET, () => {
    throw new RangeError("canary-text");
  });
  const response = await failing(post(entry()));

  assert.equal(response.status, 500);
  assert.doesNotMatch((await response.text()) + JSON.stringify(shown.mock.calls[0]?.arguments), /canary/);
  assert.equal((await webhookHandler(SECRET, () => "x".repeat(1024 * 1024 + 1))(post(entry()))).status, 500);
});

test("a repeated post joins the turn that runs, a stop fires its signal, and a full process defers", async () => {
  const begun = new Queue<{ delivered: Delivered; end: (answer: Answer) => void }>();
  const handler = webhookHandler(SECRET, (delivered) => new Promise<Answer>((end) => begun.put({ delivered, end })));
  const [one, again] = [handler(post(entry())), handler(post(entry()))];
  const turn = await begun.next("a turn");
  await settle();
  assert.equal(begun.size, 0, "one turn");

  const stop = { type: "interrupt_inbound", session_key: turn.delivered.session, chat_id: "" };
  const stopped = await handler(post(JSON.stringify({ ...stop, session_key: "another" }), "stop_1"));
  assert.deepEqual(await stopped.json(), { stopped: false });
  assert.equal(turn.delivered.signal.aborted, false);
  assert.deepEqual(await (await handler(post(JSON.stringify(stop), "stop_2"))).json(), { stopped: true });
  assert.equal(turn.delivered.signal.aborted, true);

  const others = Array.from({ length: 63 }, (_, at) => handler(post(entry(`e${at}`, `c${at}`), `e${at}`)));
  const ends = [];
  for (let at = 0; at < 63; at++) ends.push((await begun.next("a turn")).end);
  const full = await handler(post(entry("e63"), "e63"));
  assert.deepEqual([full.status, full.headers.get("retry-after")], [503, "10"]);
  for (const end of [turn.end, ...ends]) end("stopped");
  for (const response of await Promise.all([one, again, ...others])) assert.equal(await response.text(), "stopped");
});

const WAKE_SECRET = "canary-0123456789";

function call(path: string, method = "GET"): Request {
  return new Request(`http://agent${path}`, { method });
}

test("a wake call is answered with 204, and everything else with 404", async () => {
  const calls = new WakeCalls(WAKE_SECRET);
  const cases: [string, Request, number][] = [
    ["good", call(`/wake/${WAKE_SECRET}`), 204],
    ["with a query", call(`/wake/${WAKE_SECRET}?a=1`), 204],
    ["another secret", call("/wake/canary-0123456780"), 404],
    ["half of it", call("/wake/canary-012345678"), 404],
    ["more than it", call(`/wake/${WAKE_SECRET}/`), 404],
    ["none", call("/wake/"), 404],
    ["another method", call(`/wake/${WAKE_SECRET}`, "POST"), 404],
    ["only the head", call(`/wake/${WAKE_SECRET}`, "HEAD"), 404],
  ];
  for (const [name, request, status] of cases) assert.equal(calls.fetch(request).status, status, name);
  await calls.woken();
  assert(!JSON.stringify(calls).includes(WAKE_SECRET));
});

test("a burst of calls is one wake, a later call another, and a call is kept until somebody waits", async () => {
  let now = 0;
  const calls = new WakeCalls(WAKE_SECRET, () => now);
  const isWoken = (promise: Promise<void>) => Promise.race([promise.then(() => true), settle().then(() => false)]);
  for (let count = 0; count < 100; count++) calls.fetch(call(`/wake/${WAKE_SECRET}`));
  assert.equal(await isWoken(calls.woken()), true);

  const next = calls.woken();
  now = 999;
  calls.fetch(call(`/wake/${WAKE_SECRET}`));
  assert.equal(await isWoken(next), false, "the rest of the burst");
  now = 1_000;
  calls.fetch(call(`/wake/${WAKE_SECRET}`));
  assert.equal(await isWoken(next), true);
});

test("a wake secret is long enough and fit for a URL", () => {
  for (const secret of ["a".repeat(16), "-".repeat(128)]) assert.doesNotThrow(() => new WakeCalls(secret));
  for (const secret of ["a".repeat(15), "_".repeat(129), "0123456789abcdef/", "0123456789abcdefé"]) {
    assert.throws(() => new WakeCalls(secret), /the secret of a wake call/);
  }
});
