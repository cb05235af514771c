import { createMockState } from "@chat-adapter/tests";
import { Chat, type Message, type Thread } from "chat";
import { expect, test, vi } from "vitest";

import { NightdeskAdapter, createNightdeskAdapter } from "../src/index.js";
import { SECRET, inbound, posted } from "./events.js";

const config = { url: "https://desk.example", login: { gateway: "gw-1", secret: "s" } };

function bot(handler: (thread: Thread, message: Message) => Promise<unknown>): Chat<{ nightdesk: NightdeskAdapter }> {
  const adapters = { nightdesk: new NightdeskAdapter({ ...config, webhookSecret: SECRET }) };
  const chat = new Chat({ userName: "owl", adapters, state: createMockState(), logger: "silent" });
  chat.onDirectMessage((thread, message) => handler(thread, message).then(() => undefined));
  return chat;
}

test("what the bot does in the turn of a posted entry travels in the response", async () => {
  const chat = bot(async (thread, message) => {
    await thread.startTyping();
    const draft = await thread.post("thinking …");
    const gone = await thread.post("never mind");
    await gone.delete();
    await draft.edit(`you said ${message.text}`);
    await thread.adapter.addReaction(thread.id, message.id, "👀");
  });
  const response = await chat.webhooks.nightdesk(posted());

  expect(response.status).toBe(200);
  expect(await response.json()).toEqual({
    actions: [
      { op: "send", chat_id: "c1", content: "you said hello", metadata: {} },
      { op: "react", chat_id: "c1", message_id: "m-e1", emoji: "👀", metadata: {} },
    ],
  });
});

test("files are fetched from the desk, and posted by reference", async () => {
  const asked = vi.fn((url: string, init: { method?: string }) => {
    const body = init.method === "POST" ? JSON.stringify({ id: "0".repeat(32) }) : `the file ${url.slice(-4)}`;
    return Promise.resolve(new Response(body));
  });
  vi.stubGlobal("fetch", asked);
  const url = `https://desk.example/relay/media/${"1".repeat(32)}`;
  const chat = bot(async (thread, message) => {
    const data = (await message.attachments[0]?.fetchData?.()) as Buffer;
    await thread.post({ markdown: String(data), files: [{ data, filename: "a.png", mimeType: "image/png" }] });
  });
  const response = await chat.webhooks.nightdesk(posted(inbound("e1", { media: [{ url, kind: "image" }] })));
  vi.unstubAllGlobals();

  const reference = `https://desk.example/relay/media/${"0".repeat(32)}`;
  expect(await response.json()).toEqual({
    actions: [
      { op: "send", chat_id: "c1", content: "the file 1111", metadata: {} },
      { op: "send_media", chat_id: "c1", media_kind: "image", source_url: reference, filename: "a.png", metadata: {} },
    ],
  });
});

test("two turns at once do not mix, and a repeated post joins its turn", async () => {
  const ends = new Map<string, () => void>();
  const chat = bot(async (thread, message) => {
    await new Promise<void>((end) => ends.set(message.id, end));
    await thread.post(message.id);
  });
  const other = inbound("e2", {
    source: { ...(inbound("e2").event as { source: object }).source, chat_id: "c2" } as never,
  });
  const responses = [posted(), posted(), posted(other, "e2")].map((request) => chat.webhooks.nightdesk(request));
  await vi.waitFor(() => expect([...ends.keys()].sort()).toEqual(["m-e1", "m-e2"]));
  for (const end of ends.values()) end();

  const bodies = await Promise.all(
    responses.map(async (response) => (await response).json() as Promise<{ actions: { content: string }[] }>),
  );
  expect(bodies.map(({ actions }) => actions.map(({ content }) => content))).toEqual([["m-e1"], ["m-e1"], ["m-e2"]]);
});

test("a handler that fails makes the desk try again, and the repeat has a turn", async () => {
  const handler = vi.fn().mockRejectedValueOnce(new Error("it fails")).mockResolvedValue(undefined);
  const chat = bot(handler);
  const shown = vi.spyOn(console, "error").mockReturnValue();

  expect((await chat.webhooks.nightdesk(posted())).status).toBe(500);
  expect((await chat.webhooks.nightdesk(posted())).status).toBe(200);
  expect(handler).toHaveBeenCalledTimes(2);
  shown.mockRestore();
});

test("a request without the desk's signature runs nothing", async () => {
  const handler = vi.fn().mockResolvedValue(undefined);
  const chat = bot(handler);
  const request = new Request("https://bot.example/webhook", { method: "POST", body: JSON.stringify(inbound("e1")) });

  expect((await chat.webhooks.nightdesk(request)).status).toBe(401);
  expect(handler).not.toHaveBeenCalled();
});

test("outside of a turn a bot without a line cannot send, and a bot with a line takes no webhooks", async () => {
  const webhook = new NightdeskAdapter({ ...config, webhookSecret: SECRET });
  await expect(webhook.postMessage("nightdesk:discord:dm:YzE", "hi")).rejects.toThrow(/without a line/);
  const line = new NightdeskAdapter(config);
  expect((await line.handleWebhook(posted())).status).toBe(404);
});

test("foreign thread ids and raw messages are refused", () => {
  const adapter = new NightdeskAdapter(config);
  for (const id of [
    "slack:C1:t1",
    "nightdesk:discord",
    "nightdesk:discord:x:YzE",
    "nightdesk:discord:dm:YzE:YzE:YzE",
  ]) {
    expect(() => adapter.decodeThreadId(id), id).toThrow(/not a thread id/);
  }
  expect(() => adapter.parseMessage({ message_id: "m1" })).toThrow(/only an event/);
});

test("the environment names the desk", () => {
  vi.stubEnv("NIGHTDESK_URL", "https://desk.example");
  vi.stubEnv("NIGHTDESK_GATEWAY", "gw-1");
  vi.stubEnv("NIGHTDESK_SECRET", "");
  expect(() => createNightdeskAdapter()).toThrow(/is empty/);
  vi.stubEnv("NIGHTDESK_SECRET", "s");
  expect(createNightdeskAdapter({ userName: "owl" }).userName).toBe("owl");
  vi.unstubAllEnvs();
});
