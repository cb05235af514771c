import { createMockState } from "@chat-adapter/tests";
import { Actions, Button, Card, CardText, Chat, type ChatConfig, type Message, type Thread, emoji } from "chat";
import { afterEach, expect, test, vi } from "vitest";

import { FakeDesk, type FakeLine, settle } from "../../typescript/dist/test/fake-desk.js";
import { NightdeskAdapter } from "../src/index.js";
import { BOT, inbound, source } from "./events.js";

type Handler = (thread: Thread, message: Message) => Promise<unknown>;

const closing: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** A bot of the Chat SDK on a line to a desk. */
async function bot(
  handler: Handler,
  more: Partial<ChatConfig> = {},
): Promise<{ chat: Chat; line: FakeLine; adapter: NightdeskAdapter; fake: FakeDesk }> {
  const fake = await FakeDesk.open();
  const bots = [{ platform: "discord", id: BOT }];
  const adapter = new NightdeskAdapter({ url: fake.url, login: { gateway: "gw-1", secret: "s" }, bots });
  const chat = new Chat({
    ...{ userName: "owl", adapters: { nightdesk: adapter }, state: createMockState(), logger: "silent", ...more },
  });
  chat.onDirectMessage((thread, message) => handler(thread, message).then(() => undefined));
  chat.onNewMention((thread, message) => handler(thread, message).then(() => undefined));
  const initialized = chat.initialize();
  const line = await fake.nextLive();
  await initialized;
  closing.push(async () => {
    const leaving = chat.shutdown();
    fake.close();
    await leaving;
  });
  return { chat, line, adapter, fake };
}

test("a message is answered where it was written, and acknowledged after its handler", async () => {
  const { line } = await bot((thread, message) => thread.post(`you said ${message.text}`));
  line.say(inbound("e1", { text: "**hello** there" }));

  expect(await line.hearSend()).toEqual({ op: "send", chat_id: "c1", content: "you said hello there", metadata: {} });
  expect(await line.hearAck()).toBe("e1");
});

test("a message whose handler failed is not acknowledged, and has its handler again", async () => {
  const seen: string[] = [];
  const { line, fake } = await bot((_, message) => {
    seen.push(message.text);
    return seen.length === 1 ? Promise.reject(new Error("it fails")) : Promise.resolve();
  });
  line.say(inbound("e1"));
  await vi.waitFor(() => expect(seen).toEqual(["hello"]));
  await settle();
  expect(line.frames.size).toBe(0);

  line.socket.close(1011);
  const next = await fake.nextLive();
  next.say(inbound("e1"));
  expect(await next.hearAck()).toBe("e1");
  expect(seen).toEqual(["hello", "hello"]);
});

test("the author, the thread and the files of a message are known to its handler", async () => {
  const seen: Message[] = [];
  const { line, adapter } = await bot((_, message) => {
    seen.push(message);
    return Promise.resolve();
  });
  const from = source({ chat_type: "group", thread_id: "t1", user_handle: "ann", user_display_name: "Ann A." });
  const media = [
    { url: "https://desk.example/relay/media/0", kind: "voice", mime: "audio/ogg", filename: "a.ogg", size: 7 },
  ];
  line.say(inbound("e1", { text: "hey @owl", source: from, media }));
  await line.hearAck();

  const [message] = seen;
  expect(message?.author).toMatchObject({
    userId: "u1",
    userName: "ann",
    fullName: "Ann A.",
    isBot: false,
    isMe: false,
  });
  expect(adapter.decodeThreadId(message?.threadId ?? "")).toEqual({
    ...{ platform: "discord", chatId: "c1", threadId: "t1", isDM: false },
  });
  const [file] = message?.attachments ?? [];
  expect(file).toMatchObject({ type: "audio", name: "a.ogg", mimeType: "audio/ogg", size: 7 });
  expect(adapter.rehydrateAttachment({ type: "audio", fetchMetadata: file?.fetchMetadata ?? {} }).fetchData).toBeTypeOf(
    "function",
  );
});

test("a card with buttons is a prompt, and a press is an action", async () => {
  const pressed: unknown[] = [];
  const buttons = Actions([Button({ id: "go", label: "Go", value: "a:b" }), Button({ id: "no", label: "No" })]);
  const { chat, line } = await bot((thread) =>
    thread.post(Card({ title: "Well?", children: [CardText("Now"), buttons] })),
  );
  chat.onAction(["go"], async (event) => {
    pressed.push([event.actionId, event.value, event.messageId, event.user.userId]);
    await event.thread?.post("gone");
  });
  line.say(inbound("e1"));
  const { prompt_id, ...prompt } = await line.hearSend();
  expect(prompt).toEqual({
    op: "prompt",
    chat_id: "c1",
    prompt_kind: "choice",
    content: "**Well?**\nNow",
    options: [
      { id: "go:a%3Ab", label: "Go" },
      { id: "no", label: "No" },
    ],
    metadata: {},
  });
  await line.hearAck();

  const prompt_response = { prompt_id: String(prompt_id), option_id: "go:a%3Ab", prompt_message_id: "m9" };
  line.say(inbound("e2", { text: "Go", prompt_response }));
  expect(await line.hearSend()).toMatchObject({ op: "send", content: "gone" });
  expect(await line.hearAck()).toBe("e2");
  expect(pressed).toEqual([["go", "a:b", "m9", "u1"]]);
});

test("each operation of a thread reaches the desk", async () => {
  const ops: unknown[] = [];
  const { line } = await bot(async (thread, message) => {
    await thread.startTyping("reading");
    const sent = await thread.post({ markdown: "**first** {{emoji:wave}}" });
    await sent.edit("second");
    await sent.addReaction(emoji.thumbs_up);
    await sent.removeReaction("👀");
    await sent.delete();
    await thread.adapter.reply?.(thread.id, message.id, "last");
  });
  line.say(inbound("e1"));
  for (let count = 0; count < 7; count++) {
    const op = await line.hearSend();
    expect([op.chat_id, op.metadata]).toEqual(["c1", {}]);
    ops.push({ ...op, chat_id: undefined, metadata: undefined });
  }
  await line.hearAck();

  expect(ops).toEqual([
    { op: "typing", content: "reading" },
    { op: "send", content: "**first** 👋" },
    { op: "edit", message_id: "m9", content: "second" },
    { op: "react", message_id: "m9", emoji: "👍" },
    { op: "react", message_id: "m9", emoji: "👀", remove: true },
    { op: "delete", message_id: "m9" },
    { op: "send", content: "last", reply_to: "m-e1" },
  ]);
});

test("a stop aborts the signal of the handler's thread", async () => {
  const begun = vi.fn();
  const { line } = await bot(async (thread) => {
    begun();
    await new Promise<void>((stopped) => thread.signal.addEventListener("abort", () => stopped()));
  });
  line.say(inbound("e1"));
  await vi.waitFor(() => expect(begun).toHaveBeenCalled());
  line.say({ type: "interrupt_inbound", session_key: "agent:main:discord:dm:c1", chat_id: "", stop_id: "s1" });

  expect(await line.hear("interrupt_result")).toMatchObject({ stop_id: "s1", stopped: true });
  expect(await line.hearAck()).toBe("e1");
});

test("a turn that takes long is acknowledged before it ends", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const begun = vi.fn();
  const { line } = await bot(async (thread) => {
    begun();
    await new Promise<void>((stopped) => thread.signal.addEventListener("abort", () => stopped()));
  });
  line.say(inbound("e1"));
  while (begun.mock.calls.length === 0) await settle();
  vi.advanceTimersByTime(29_999);
  await settle();
  expect(line.frames.size).toBe(0);

  vi.advanceTimersByTime(1);
  expect(await line.hearAck()).toBe("e1");
  line.say({ type: "interrupt_inbound", session_key: "agent:main:discord:dm:c1", chat_id: "" });
  await settle();
  vi.useRealTimers();
});

test("a message that the Chat SDK drops, because its thread is busy, does not come again", async () => {
  const ends: (() => void)[] = [];
  const { line } = await bot(() => new Promise<void>((end) => ends.push(end)));
  const from = (user_id: string) => source({ chat_type: "group", user_id });
  line.say(inbound("e1", { text: "hey @owl", source: from("u1") }));
  await vi.waitFor(() => expect(ends.length).toBe(1));
  line.say(inbound("e2", { text: "hey @owl", source: from("u2") }));

  expect(await line.hearAck()).toBe("e2");
  ends[0]?.();
  expect(await line.hearAck()).toBe("e1");
  expect(ends.length).toBe(1);
});

test("the chat's name comes from the desk, and errors of a send are those of the Chat SDK", async () => {
  const { line, adapter } = await bot(() => Promise.resolve());
  const threadId = adapter.encodeThreadId({ platform: "discord", chatId: "c1", threadId: "t1", isDM: false });
  const fetching = adapter.fetchThread(threadId);
  await line.hearSend({ success: true, chat_info: { name: "general", type: "channel" } });
  expect(await fetching).toMatchObject({
    channelName: "general",
    channelId: "nightdesk:discord:room:YzE",
    isDM: false,
  });

  const cases: [Record<string, unknown>, string][] = [
    [{ success: false, code: "egress_declined", error: "no" }, "PermissionError"],
    [{ success: false, error: "network is busy" }, "AdapterError"],
    [{ success: false, ambiguous: true }, "NetworkError"],
  ];
  for (const [result, name] of cases) {
    const posting = expect(adapter.postMessage(threadId, "hi")).rejects.toMatchObject({ name, adapter: "nightdesk" });
    await line.hearSend(result);
    await posting;
  }
});

test("a reply in the chat of a letter is marked as the reply", async () => {
  const { line } = await bot((thread) => thread.post("fine"));
  line.say(inbound("e1", { source: source({ platform: "desk", chat_id: "letter:l1" }) }));

  expect(await line.hearSend()).toMatchObject({ chat_id: "letter:l1", metadata: { notify: true } });
});

test("the bot's own message and an edited one start no conversation", async () => {
  const handler = vi.fn(() => Promise.resolve());
  const { line } = await bot(handler);
  line.say(inbound("e1", { source: source({ user_id: BOT }) }));
  line.say(inbound("e2", { source: source({ message_is_edit: true }) }));
  expect([await line.hearAck(), await line.hearAck()]).toEqual(["e1", "e2"]);

  expect(handler).not.toHaveBeenCalled();
});

test("shutting down goes idle", async () => {
  const { chat, line } = await bot(() => Promise.resolve());
  await settle();
  const leaving = chat.shutdown();
  await line.hear("going_idle");
  line.say({ type: "going_idle_ack" });

  expect(await line.closed.next("the close")).toBe(1000);
  await leaving;
});
