import assert from "node:assert/strict";
import { test } from "node:test";

import { PLACE, pair, turns } from "./agent.js";
import { inbound, settle } from "./fake-desk.js";

test("going idle handles what came before, waits for its turns, and closes with 1000", async (t) => {
  const { fake, desk } = await pair(t);
  const begun = turns(desk);
  const line = await fake.nextLive();
  line.say(inbound("e1"));
  const turn = await begun.next("a turn");
  const idle = desk.goIdle();
  await line.hear("going_idle");
  line.say({ type: "going_idle_ack" });
  await settle();
  assert.equal(line.closed.size, 0, "a turn still runs");

  turn.end();
  assert.equal(await line.hearAck(), "e1");
  assert.equal(await line.closed.next("the close"), 1000);
  assert.equal(await idle, "idle");
  assert.equal(fake.dials, 0);
});

test("going idle is cut short after eight seconds", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout", "setInterval"] });
  const { fake, desk } = await pair(t);
  const line = await fake.nextLive();
  await settle();
  const idle = desk.goIdle();
  await line.hear("going_idle");
  t.mock.timers.tick(8_000);

  assert.equal(await line.closed.next("the close"), 1000);
  assert.equal(await idle, "cut-short");
});

test("a signal makes the agent go idle, and its handler goes with the agent", async (t) => {
  const { fake, desk } = await pair(t);
  desk.idleOn("SIGUSR2");
  const line = await fake.nextLive();
  const running = desk.run(() => undefined);
  process.kill(process.pid, "SIGUSR2");
  await line.hear("going_idle");
  line.say({ type: "going_idle_ack" });

  assert.equal(await running, "idle");
  assert.equal(process.listenerCount("SIGUSR2"), 0);
});

test("an agent falls asleep after quiet, and work before the confirmation keeps it awake", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout", "setInterval"] });
  const { fake, desk } = await pair(t, { sleepAfter: 5_000 });
  const begun = turns(desk);
  const line = await fake.nextLive();
  line.say(inbound("e1"));
  const turn = await begun.next("a turn");
  t.mock.timers.tick(20_000);
  await settle();
  assert.equal(line.frames.size, 0, "a turn runs");
  turn.end();
  await line.hearAck();

  t.mock.timers.tick(5_000);
  await line.hear("going_idle");
  line.say(inbound("e2"), { type: "going_idle_ack" });
  (await begun.next("the late entry")).end();
  await line.hearAck();
  assert.equal(line.closed.size, 0);

  t.mock.timers.tick(5_000);
  await line.hear("going_idle");
  line.say({ type: "going_idle_ack" });
  assert.equal(await line.closed.next("the close"), 1000);
  assert.equal(await desk.ended(), "asleep");
});

test("an agent does not sleep while a send is unanswered or an entry is unacked", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout", "setInterval"] });
  const { fake, desk } = await pair(t, { sleepAfter: 5_000 });
  const begun = turns(desk);
  const line = await fake.nextLive();
  line.say(inbound("e1"));
  (await begun.next("a turn")).end(new Error("it fails"));
  await settle();
  t.mock.timers.tick(20_000);
  await settle();
  assert.equal(line.frames.size, 0, "the failed entry is unacked");

  line.socket.close(1011);
  await line.closed.next("the close");
  await settle();
  t.mock.timers.tick(1);
  const next = await fake.nextLive();
  const sent = desk.send(PLACE, "hi");
  const { requestId } = await next.hear("outbound");
  t.mock.timers.tick(10_000);
  await settle();
  assert.equal(next.frames.size, 0, "the send waits for its result");
  next.say({ type: "outbound_result", requestId, result: { success: true } });
  await sent;
  t.mock.timers.tick(5_000);
  await next.hear("going_idle");
});

test("disconnecting ends everything at once", async (t) => {
  const { fake, desk } = await pair(t);
  const line = await fake.nextLive();
  const looping = (async () => {
    for await (const entry of desk.entries()) assert.fail(`nobody expects ${String(entry.id)}`);
  })();
  desk.disconnect();

  assert.equal(await line.closed.next("the close"), 1000);
  await looping;
  assert.equal(await desk.ended(), "disconnected");
});

test("an entry that arrives while the line closes has no turn", async (t) => {
  const { fake, desk } = await pair(t);
  const begun = turns(desk);
  const line = await fake.nextLive();
  await desk.handshake();
  line.say(inbound("e1"));
  desk.disconnect();
  await desk.ended();
  await settle();

  assert.equal(begun.size, 0);
});
