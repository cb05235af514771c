import assert from "node:assert/strict";
import { test } from "node:test";

import { Desk, OverError, RevokedError, UnknownError, type Settings, type Status } from "../src/index.js";
import { LOGIN, PLACE, pair, turns } from "./agent.js";
import { Queue, descriptor, inbound, settle, until } from "./fake-desk.js";

test("dials with a fresh token, and says hello for each bot in order", async (t) => {
  const bots = [{ platform: "discord", id: "b1" }, { platform: "telegram" }];
  const { fake, desk } = await pair(t, { bots });
  const line = await fake.nextLine();
  const hellos = await line.greet(2);

  assert.deepEqual(
    hellos.map(({ platform, botId, client }) => [platform, botId, typeof client]),
    [
      ["discord", "b1", "object"],
      ["telegram", "", "object"],
    ],
  );
  const { authorization, "sec-websocket-extensions": extensions } = line.request.headers;
  const token = Buffer.from(authorization?.replace("Bearer ", "") ?? "", "base64url").toString();
  const [gateway, expiry] = token.split(":");
  assert.equal(gateway, "gw-1");
  assert(Math.abs(Number(expiry) - Date.now() / 1000 - 300) < 5);
  assert.equal(line.request.url, "/relay");
  assert.equal(extensions, undefined, "the desk refuses compressed messages");
  const descriptors = await desk.handshake();
  assert.deepEqual(
    descriptors.map((one) => one.platform),
    ["discord", "telegram"],
  );
});

test("a desk that exceeds its window loses the line", async (t) => {
  const statuses: Status[] = [];
  const { fake } = await pair(t, { onStatus: (status) => statuses.push(status) });
  const line = await fake.nextLive();
  for (let at = 0; at < 65; at++) line.say(inbound(`e${at}`));

  assert.equal(await line.closed.next("the close"), 1001);
  await fake.nextLine();
  assert(statuses.some((status) => status.state === "resting" && status.why.reason === "flooded"));
});

test("frames are split at line ends, also within a message and within a character", async (t) => {
  const { fake, desk } = await pair(t);
  const begun = turns(desk);
  const line = await fake.nextLine();
  await line.hear("hello");
  const bytes = Buffer.from(`${JSON.stringify(descriptor())}\n\n[]\n${JSON.stringify(inbound("e1", "c1", "né🔌"))}\n`);
  for (let at = 0; at < bytes.length; at += 7) line.socket.send(bytes.subarray(at, at + 7));

  assert.equal((await begun.next("a turn")).entry.text, "né🔌");
});

test("a line is pinged, and given up after 90 s of silence", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout", "setInterval"] });
  const statuses: Status[] = [];
  const { fake } = await pair(t, { onStatus: (status) => statuses.push(status) });
  const line = await fake.nextLive();
  let pings = 0;
  line.socket.on("ping", () => pings++);
  for (let count = 1; count <= 4; count++) {
    t.mock.timers.tick(25_000);
    await until(() => pings === count, "a ping");
    await settle();
  }
  assert(!statuses.some(({ state }) => state === "resting"), "pongs keep it open");

  line.socket.pause();
  t.mock.timers.tick(90_000);
  t.mock.timers.tick(2_000);
  await until(() => statuses.some((status) => status.state === "resting" && status.why.reason === "silent"), "the end");
});

test("a line whose hello is not answered is given up after 30 s", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout", "setInterval"] });
  const { fake } = await pair(t);
  const line = await fake.nextLine();
  await line.hear("hello");
  t.mock.timers.tick(30_000);
  assert.equal(await line.closed.next("the close"), 1001);
});

test("a gateway is revoked by the second 4401, and not by one", async (t) => {
  const { fake, desk } = await pair(t);
  const looping = (async () => {
    for await (const entry of desk.entries()) assert.fail(`nobody expects ${String(entry.id)}`);
  })();
  const revoked = assert.rejects(looping, RevokedError);
  const line = await fake.nextLive();
  const sent = assert.rejects(desk.send(PLACE, "hi"), UnknownError);
  await line.hear("outbound");
  line.socket.close(4401);
  await sent;
  (await fake.nextLive()).socket.close(4401);

  await revoked;
  await assert.rejects(desk.ended(), RevokedError);
  await assert.rejects(desk.handshake(), RevokedError);
  await assert.rejects(desk.send(PLACE, "hi"), OverError);
  await settle();
  assert.equal(fake.dials, 0, "it does not dial again");
});

test("an expired token is no revocation", async (t) => {
  const { fake, desk } = await pair(t);
  for (let round = 0; round < 4; round++) (await fake.nextLive()).socket.close(4401, "expired");
  await fake.nextLive();
  assert.equal((await desk.handshake()).length, 1);
});

test("a dial waits as long as the desk says", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout", "setInterval"] });
  const rests: number[] = [];
  const onStatus = (status: Status) => {
    if (status.state === "resting") rests.push(status.restMs);
  };
  const { fake } = await pair(t, { onStatus }, [503, 401]);
  await until(() => rests.length === 1, "the first refusal");
  assert.deepEqual(rests, [2_000]);
  t.mock.timers.tick(1_999);
  await settle();
  assert.equal(rests.length, 1);
  t.mock.timers.tick(1);
  await until(() => rests.length === 2, "the second refusal");
  assert.equal(rests[1], 0, "without the header the backoff alone counts");
  t.mock.timers.tick(0);
  await fake.nextLive();
});

test("delays grow to half a minute, and begin anew only after a line that lived for a minute", async (t) => {
  t.mock.method(Math, "random", () => 0.999_999);
  t.mock.timers.enable({ apis: ["setTimeout", "setInterval"] });
  const rests: number[] = [];
  const onStatus = (status: Status) => {
    if (status.state === "resting") rests.push(Math.round(status.restMs / 1000));
  };
  const { fake } = await pair(t, { onStatus });
  const lose = async (code: number, livedMs = 0) => {
    const line = await fake.nextLive();
    await settle();
    t.mock.timers.tick(livedMs);
    line.socket.close(code);
    await line.closed.next("the close");
    await settle();
    t.mock.timers.tick(30_000);
  };

  for (const code of [1011, 1008, 1009, 4409, 1013, 1011, 1011]) await lose(code);
  await lose(1011, 60_000);
  await lose(1012);
  await lose(1012);
  assert.deepEqual(rests, [1, 2, 4, 8, 16, 30, 30, 1, 5, 5]);
});

test("a refused dial is repeated, and reported with its status", async (t) => {
  const statuses: Status[] = [];
  const { fake } = await pair(t, { onStatus: (status) => statuses.push(status) }, [401, 503]);
  await fake.nextLive();

  const rests = statuses.filter((status) => status.state === "resting");
  assert.deepEqual(
    rests.map(({ why }) => [why.reason, why.status]),
    [
      ["refused", 401],
      ["refused", 503],
    ],
  );
});

test("a new dial waits until the old socket is closed", async (t) => {
  const { fake } = await pair(t);
  const line = await fake.nextLive();
  for (let at = 0; at < 65; at++) line.say(inbound(`e${at}`));
  const next = await fake.nextLive();

  assert.equal(line.closed.size, 1, "the close came before the dial");
  assert.equal(next.closed.size, 0);
});

test("an unreachable desk is reported with its reason", async (t) => {
  t.mock.method(Math, "random", () => 1);
  t.mock.timers.enable({ apis: ["setTimeout", "setInterval"] });
  const reports = new Queue<Status>();
  const login = { token: () => Promise.reject(new Error("canary-token")) };
  const onStatus = (status: Status) => reports.put(status);
  const desk = Desk.connect({ url: "http://127.0.0.1:9", login, onStatus });
  t.after(() => desk.disconnect());
  assert.equal((await reports.next("the dial")).state, "dialling");

  const rest = await reports.next("the rest");
  assert(rest.state === "resting" && rest.why.reason === "unreachable");
  assert.doesNotMatch(JSON.stringify(rest), /canary/);
});

test("settings that cannot work are refused before a dial", () => {
  const cases: [string, Partial<Settings>, RegExp][] = [
    ["no scheme", { url: "desk.example" }, /URL of a desk/],
    ["a query", { url: "https://desk.example?a=1" }, /URL of a desk/],
    ["a user", { url: "https://user:word@desk.example" }, /URL of a desk/],
    ["a colon", { login: { gateway: "a:b", secret: "s" } }, /name of a gateway/],
    ["no secret", { login: { gateway: "gw-1", secret: "" } }, /is empty/],
    ["no token", { login: { token: "" } }, /is empty/],
    ["sleeps at once", { sleepAfter: 4_999 }, /sleeps after/],
    ["sleeps never", { sleepAfter: NaN }, /sleeps after/],
    ["17 bots", { bots: Array.from({ length: 17 }, () => ({ platform: "discord" })) }, /16 bots/],
  ];
  for (const [name, more, why] of cases) {
    assert.throws(() => Desk.connect({ url: "http://desk", login: LOGIN, ...more }), why, name);
  }
});

test("a frame that is too long for the client ends the line with 1009", async (t) => {
  const { fake } = await pair(t);
  const line = await fake.nextLive();
  for (let count = 0; count < 2; count++) line.socket.send("x".repeat(3 * 1024 * 1024));

  assert.equal(await line.closed.next("the close"), 1009);
});
