import { createHmac } from "node:crypto";

import type { InboundEvent, Source } from "nightdesk";

export const SECRET = `whsec_${Buffer.alloc(24, 7).toString("base64")}`;
export const BOT = "bot-1";

export function source(more: Partial<Source> = {}): Source {
  return {
    platform: "discord",
    chat_id: "c1",
    chat_type: "dm",
    chat_name: null,
    user_id: "u1",
    user_name: "Ann",
    thread_id: null,
    chat_topic: null,
    is_bot: false,
    message_is_edit: false,
    ...more,
  };
}

export function event(more: Partial<InboundEvent> = {}): InboundEvent {
  return { text: "hello", message_type: "text", message_id: "m1", source: source(), ...more };
}

export function inbound(bufferId: string, more: Partial<InboundEvent> = {}): Record<string, unknown> {
  return { type: "inbound", event: event({ message_id: `m-${bufferId}`, ...more }), bufferId };
}

/** An entry as a desk posts it. */
export function posted(frame: unknown = inbound("e1"), id = "e1"): Request {
  const [body, at] = [JSON.stringify(frame), String(Math.floor(Date.now() / 1000))];
  const key = Buffer.from(SECRET.slice("whsec_".length), "base64");
  const signature = createHmac("sha256", key).update(`${id}.${at}.${body}`).digest("base64");
  const headers = { "webhook-id": id, "webhook-timestamp": at, "webhook-signature": `v1,${signature}` };
  return new Request("https://bot.example/webhook", { method: "POST", body, headers });
}
