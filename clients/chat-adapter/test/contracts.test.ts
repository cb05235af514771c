/** The Chat SDK's own tests of adapters. */

import {
  connectWebhookContract,
  createMockChatInstance,
  selfMessageContract,
  threadIdContract,
} from "@chat-adapter/tests";

import { NightdeskAdapter } from "../src/index.js";
import { BOT, SECRET, inbound, posted, source } from "./events.js";

const config = { url: "https://desk.example", login: { gateway: "gw-1", secret: "s" }, botUserId: BOT };
const codec = new NightdeskAdapter(config);

threadIdContract({
  name: "nightdesk",
  encode: (place) => codec.encodeThreadId(place),
  decode: (id) => codec.decodeThreadId(id),
  cases: [
    { decoded: { platform: "discord", chatId: "c1", isDM: true }, encoded: "nightdesk:discord:dm:YzE" },
    { decoded: { platform: "telegram", chatId: "-100:7", threadId: "3", isDM: false } },
    { decoded: { platform: "a:b%", chatId: "!r:hs/é", threadId: "$e:hs", isDM: false } },
  ],
  isDM: {
    fn: (id) => codec.isDM(id),
    dmThreadId: "nightdesk:discord:dm:YzE",
    nonDmThreadId: "nightdesk:discord:room:YzE",
  },
});

selfMessageContract({
  name: "nightdesk",
  setup: async () => {
    const adapter = new NightdeskAdapter({ ...config, webhookSecret: SECRET });
    const chat = createMockChatInstance();
    await adapter.initialize(chat);
    return { adapter, chat };
  },
  makeOtherMessageRequest: () => posted(),
  makeSelfMessageRequest: () => posted(inbound("e1", { source: source({ user_id: BOT, is_bot: true }) })),
});

connectWebhookContract({
  name: "nightdesk",
  createAdapter: ({ webhookVerifier }) => new NightdeskAdapter({ ...config, webhookVerifier }),
  createAdapterWithSecretAndVerifier: ({ webhookVerifier }) =>
    new NightdeskAdapter({ ...config, webhookVerifier, webhookSecret: SECRET }),
  // Without the desk's signature, the verifier is the only check.
  makeWebhookRequest: () =>
    new Request("https://bot.example/webhook", { method: "POST", body: JSON.stringify(inbound("e1")) }),
});
