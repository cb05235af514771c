import { createMockState } from "@chat-adapter/tests";
import { Chat } from "chat";
import { expect, test } from "vitest";

import { Person, startDesk } from "../../typescript/dist/test/real-desk.js";
import { NightdeskAdapter } from "../src/index.js";

const binary = process.env.NIGHTDESK_BIN;

test.runIf(binary)(
  "a person, a bot of the Chat SDK and a real desk",
  { timeout: 300_000 },
  async ({ onTestFinished }) => {
    const { url, chat: page, gateway, secret } = await startDesk({ after: onTestFinished });
    const adapter = new NightdeskAdapter({ url, login: { gateway, secret } });
    const chat = new Chat({
      userName: "owl",
      adapters: { nightdesk: adapter },
      state: createMockState(),
      logger: "silent",
    });
    chat.onDirectMessage(async (thread, message) => {
      const sent = await thread.post("thinking");
      await sent.edit(`chat: ${message.text}`);
    });
    await chat.initialize();

    // The trial's own agent answers until the adapter's line is open.
    const person = new Person(page);
    await person.ask("hello", "chat: hello").catch(() => person.ask("hello", "chat: hello"));
    await chat.shutdown();
    expect(await adapter.handleWebhook(new Request(url)).then(({ status }) => status)).toBe(404);
  },
);
