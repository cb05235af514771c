import { ValidationError } from "@chat-adapter/shared";

export const NAME = "nightdesk";

/** A chat of a platform, and a thread in it. */
export interface NightdeskThreadId {
  platform: string;
  chatId: string;
  threadId?: string;
  isDM: boolean;
}

/** Writes a thread id: `nightdesk:PLATFORM:dm|room:CHAT[:THREAD]`, with the ids of the platform in base64url. */
export function encodeThreadId({ platform, chatId, threadId, isDM }: NightdeskThreadId): string {
  const ids = [chatId, ...(threadId === undefined ? [] : [threadId])];
  const encoded = ids.map((id) => Buffer.from(id).toString("base64url"));
  return [NAME, encodeURIComponent(platform), isDM ? "dm" : "room", ...encoded].join(":");
}

export function decodeThreadId(text: string): NightdeskThreadId {
  const [name, platform, kind, chat, thread, ...rest] = text.split(":");
  const isOurs = name === NAME && (kind === "dm" || kind === "room") && rest.length === 0;
  if (!isOurs || !platform || !chat) throw new ValidationError(NAME, "this is not a thread id of a Nightdesk");
  const place = { platform: decodeURIComponent(platform), chatId: decode(chat), isDM: kind === "dm" };
  return thread === undefined ? place : { ...place, threadId: decode(thread) };
}

function decode(id: string): string {
  return Buffer.from(id, "base64url").toString();
}
