import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";

import { serve } from "../examples/serve.js";
import {
  type Answer,
  CallError,
  type Delivered,
  FailedError,
  LATER,
  Poll,
  RefusedError,
  webhookHandler,
} from "../src/index.js";
import { Queue } from "./fake-desk.js";
import { Person, REAL, freePort, startDesk } from "./real-desk.js";

const STRANGER = { platform: "webchat", chat_id: "0".repeat(32) };

const isGone = (error: unknown) => error instanceof CallError && error.status === 410;

/** Takes until an entry comes. */
async function next(poll: Poll): Promise<Delivered> {
  for (let round = 0; round < 5; round++) {
    const [entry] = await poll.take(10);
    if (entry !== undefined) return entry;
  }
  throw new Error("no entry came");
}

test("a person, a polling agent and a real desk", REAL, async (t) => {
  const { url, chat, gateway, secret } = await startDesk(t);
  const settings = { url, login: { gateway, secret } };
  const [poll, person] = [new Poll(settings), new Person(chat)];
  // From here on the line is this agent's.
  assert.deepEqual(await poll.take(0), []);

  await t.test("a message is answered where it was written, by the bot that got it", async () => {
    await person.write("hello");
    const entry = await next(poll);
    assert.deepEqual([entry.text, entry.event.source.botId], ["hello", "dev"]);
    await poll.typing(entry.event.source);
    const { message_id } = await poll.reply(entry, "hm");
    await poll.edit(entry.event.source, message_id ?? "", "polled: hello");
    await person.sees("polled: hello");
    await poll.ack(entry.id ?? "");
    assert.deepEqual(await poll.take(0), [], "an acknowledged entry does not come again");
  });
  await t.test("the desk tells what it does not do", async () => {
    await person.write("refuse");
    const entry = await next(poll);
    await assert.rejects(poll.react(entry.event.source, entry.event.message_id ?? "", "👀"), FailedError);
    await assert.rejects(poll.send(STRANGER, "hi"), RefusedError);
    const op = { op: "send", content: "once" } as const;
    const sent = await poll.act(entry.event.source, op, "request-1");
    assert.deepEqual(await poll.act(entry.event.source, op, "request-1"), sent, "one request id is one message");
    assert.equal((await person.read()).filter((text) => text === "once").length, 1);
    await poll.ack(entry.id ?? "");
  });
  await t.test("a newer line gets what the earlier one did not acknowledge", async () => {
    await person.write("again");
    const { id } = await next(poll);
    const newer = new Poll(settings);
    const again = await next(newer);
    assert.equal(again.id, id);
    await assert.rejects(poll.take(0), isGone);
    await assert.rejects(poll.ack(id ?? ""), CallError);
    await newer.reply(again, "polled: again");
    await newer.ack(again.id ?? "");
    await newer.goIdle();
    await assert.rejects(newer.send(again.event.source, "hi"), "it has no line");
  });
  await t.test("a sleeping agent finds its message when it takes", async () => {
    await person.write("wake up");
    const entry = await next(poll);
    await poll.reply(entry, "polled: I am up");
    await poll.ack(entry.id ?? "");
    await person.sees("polled: I am up");
  });
  await t.test("a wrong secret is refused", async () => {
    const wrong = new Poll({ url, login: { gateway, secret: "wrong" } });
    await assert.rejects(wrong.take(0), (error: unknown) => error instanceof CallError && error.status === 401);
  });
});

/** A desk that calls a handler. */
async function called(t: TestContext, handle: (entry: Delivered) => Answer) {
  const port = await freePort();
  const desk = await startDesk(t, "--webhook", `http://127.0.0.1:${port}/entries`);
  const server = serve(webhookHandler(desk.webhook_secret ?? "", handle), port);
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { desk, person: new Person(desk.chat) };
}

test("a person, a function and a real desk", REAL, async (t) => {
  const taken = new Queue<Delivered>();
  const { desk, person } = await called(t, (entry) => {
    if (entry.text === "later") {
      taken.put(entry);
      return LATER;
    }
    if (entry.text === "both") return { text: "the text", actions: [{ op: "send", content: "the action" }] };
    return entry.text === "nothing" ? undefined : `called: ${entry.text}`;
  });

  await t.test("a text is the answer", () => person.ask("hello", "called: hello"));
  await t.test("actions follow the text", async () => {
    await person.write("nothing");
    await person.ask("both", "the action");
    assert.deepEqual((await person.read()).slice(-2), ["the text", "the action"]);
  });
  await t.test("an answer may come later, without a line", async () => {
    const line = new Poll({ url: desk.url, login: { gateway: desk.gateway, secret: desk.secret } });
    await person.write("later");
    await person.write("after it");
    const entry = await taken.next("the entry");
    await line.reply(entry, "thought about it");
    await person.sees("thought about it");
    await assert.rejects(line.send(STRANGER, "hi"), RefusedError);
    await line.ack(entry.id ?? "");
    await person.sees("called: after it");
  });
});
