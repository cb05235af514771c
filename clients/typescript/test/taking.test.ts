import assert from "node:assert/strict";
import { test } from "node:test";

import { pair, turns } from "./agent.js";
import { inbound, settle } from "./fake-desk.js";

test("a loop acks an entry when it asks for the next one, and not when it is left by an error", async (t) => {
  const { fake, desk } = await pair(t);
  const line = await fake.nextLive();
  line.say(inbound("e1"), inbound("e2"));
  const loop = async () => {
    for await (const entry of desk.entries()) {
      await entry.reply(`you said ${entry.text}`);
      if (entry.id === "e2") throw new Error("this turn fails");
    }
  };
  const left = assert.rejects(loop(), /this turn fails/);

  assert.deepEqual(await line.hearSend(), {
    op: "send",
    chat_id: "c1",
    content: "you said text of e1",
    reply_to: "m-e1",
    metadata: { user_id: "u1" },
  });
  assert.equal(await line.hearAck(), "e1");
  await line.hearSend();
  await left;
  await settle();
  assert.equal(line.frames.size, 0, "nothing acks e2");
});

test("a turn that succeeds acks, a turn that throws does not and has its entry again on the next line", async (t) => {
  const { fake, desk } = await pair(t);
  const begun = turns(desk);
  const line = await fake.nextLive();
  line.say(inbound("e1", "c1"), inbound("e2", "c2"));
  const [one, two] = [await begun.next("a turn"), await begun.next("a turn")];
  one.end(new Error("it fails"));
  two.end();
  assert.equal(await line.hearAck(), "e2");
  line.socket.close(1011);

  const next = await fake.nextLive();
  next.say(inbound("e1", "c1"));
  const again = await begun.next("the turn of the failed entry");
  assert.equal(again.entry.id, "e1");
  again.end();
  assert.equal(await next.hearAck(), "e1");
});

test("the default report of a failed turn shows no text", async (t) => {
  const shown = t.mock.method(console, "error", () => undefined);
  const { fake, desk } = await pair(t);
  const running = desk.run(() => {
    throw new RangeError("canary-text");
  });
  const line = await fake.nextLive();
  line.say(inbound("e1"));
  await settle();
  desk.disconnect();
  await running;

  const said = shown.mock.calls.map((call) => call.arguments.join(" ")).join("\n");
  assert.match(said, /e1 failed: RangeError/);
  assert.doesNotMatch(said, /canary/);
});

test("an entry whose ack was lost with its line is only acked again", async (t) => {
  const { fake, desk } = await pair(t);
  const begun = turns(desk);
  const line = await fake.nextLive();
  line.say(inbound("e1"));
  (await begun.next("a turn")).end();
  await line.hearAck();
  line.socket.terminate();

  const next = await fake.nextLive();
  next.say(inbound("e1"));
  assert.equal(await next.hearAck(), "e1");
  assert.equal(begun.size, 0, "no second turn");
});

test("a turn outlives its line, and acks on the line that delivers its entry again", async (t) => {
  const { fake, desk } = await pair(t);
  const begun = turns(desk);
  const line = await fake.nextLive();
  line.say(inbound("e1"));
  const turn = await begun.next("a turn");
  line.socket.terminate();
  const next = await fake.nextLive();
  turn.end();
  await settle();
  assert.equal(next.frames.size, 0, "this line has not delivered the entry");

  next.say(inbound("e1"));
  assert.equal(await next.hearAck(), "e1");
  assert.equal(begun.size, 0);
});

test("entries that wait when their line ends have their turn on the next line, and not before", async (t) => {
  const { fake, desk } = await pair(t);
  const begun = turns(desk);
  const line = await fake.nextLive();
  line.say(inbound("e1"), inbound("e2"));
  const first = await begun.next("a turn");
  line.socket.terminate();
  const next = await fake.nextLive();
  first.end();
  await settle();
  assert.equal(begun.size, 0, "another process may have the entry");

  next.say(inbound("e1"), inbound("e2"));
  assert.equal(await next.hearAck(), "e1");
  (await begun.next("the second turn")).end();
  assert.equal(await next.hearAck(), "e2");
  assert.equal(begun.size, 0);
});

test("turns of one session are in order, and twelve sessions run at once", async (t) => {
  const { fake, desk } = await pair(t);
  const begun = turns(desk);
  const line = await fake.nextLive();
  line.say(inbound("e0", "c0"), inbound("e0b", "c0"));
  for (let at = 1; at < 13; at++) line.say(inbound(`e${at}`, `c${at}`));
  const running = [];
  for (let at = 0; at < 12; at++) running.push(await begun.next("a turn"));
  await settle();
  assert.deepEqual(running.map(({ entry }) => entry.id).sort(), Array.from({ length: 12 }, (_, at) => `e${at}`).sort());
  assert.equal(begun.size, 0, "the window of turns is full");

  running[0]?.end();
  assert.equal(await line.hearAck(), "e0");
  assert.equal((await begun.next("the next turn of the session")).entry.id, "e0b");
});

test("a turn may ack before it ends, and then its failure does not matter", async (t) => {
  const { fake, desk } = await pair(t);
  const begun = turns(desk);
  const line = await fake.nextLive();
  line.say(inbound("e1"));
  const turn = await begun.next("a turn");
  turn.entry.ack();
  turn.entry.ack();
  assert.equal(await line.hearAck(), "e1");
  turn.end(new Error("too late"));
  line.socket.terminate();

  const next = await fake.nextLive();
  next.say(inbound("e1"));
  assert.equal(await next.hearAck(), "e1");
  assert.equal(begun.size, 0);
});

test("a stop fires the signal of exactly its session, and is answered if it has an id", async (t) => {
  const { fake, desk } = await pair(t);
  const begun = turns(desk);
  const line = await fake.nextLive();
  line.say(inbound("e1", "c1"), inbound("e2", "c2"));
  const [one, two] = [await begun.next("a turn"), await begun.next("a turn")];
  const stop = { type: "interrupt_inbound", session_key: one.entry.session, chat_id: "" };
  line.say({ ...stop, session_key: "agent:main:discord:dm:nobody", stop_id: "s1" }, { ...stop, stop_id: "s2" }, stop);

  assert.deepEqual(await line.hear("interrupt_result"), { type: "interrupt_result", stop_id: "s1", stopped: false });
  assert.deepEqual(await line.hear("interrupt_result"), { type: "interrupt_result", stop_id: "s2", stopped: true });
  assert.equal(one.entry.session, "agent:main:discord:dm:c1");
  assert.deepEqual([one.entry.signal.aborted, two.entry.signal.aborted], [true, false]);
  await settle();
  assert.equal(line.frames.size, 0, "a stop without an id has no answer");
});
