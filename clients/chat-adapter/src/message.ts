import { type Attachment, type Author, BaseFormatConverter, Message, parseMarkdown, stringifyMarkdown } from "chat";
import type { InboundEvent, Source } from "nightdesk";

import { encodeThreadId } from "./thread-id.js";

/** Agents of a desk write Markdown, and the desk passes on what people write. */
export class MarkdownConverter extends BaseFormatConverter {
  override toAst(text: string): ReturnType<typeof parseMarkdown> {
    return parseMarkdown(text);
  }

  override fromAst(ast: ReturnType<typeof parseMarkdown>): string {
    return stringifyMarkdown(ast).trimEnd();
  }
}

/** Returns the thread in which an event was written. */
export function threadOf({ platform, chat_id, chat_type, thread_id }: Source): string {
  const place = { platform, chatId: chat_id, isDM: chat_type === "dm" };
  return encodeThreadId(thread_id === null ? place : { ...place, threadId: thread_id });
}

/** Converts an event. `id` is the entry's, for events that have no id of their own. */
export function toMessage(
  event: InboundEvent,
  id: string,
  converter: MarkdownConverter,
  author: Author,
  fetchFile: (url: string) => Promise<Buffer>,
): Message<InboundEvent> {
  return new Message<InboundEvent>({
    id: event.message_id ?? id,
    threadId: threadOf(event.source),
    text: converter.extractPlainText(event.text),
    formatted: converter.toAst(event.text),
    raw: event,
    author,
    // An event has no time. It arrives when it is written, unless the agent slept.
    metadata: { dateSent: new Date(), edited: event.source.message_is_edit },
    attachments: (event.media ?? []).map((file) => toAttachment(file, fetchFile)),
  });
}

export function toAuthor(source: Source, botUserId: string | undefined): Author {
  const name = source.user_name ?? source.user_id ?? "";
  const [handle, display] = [source.user_handle, source.user_display_name];
  return {
    userId: source.user_id ?? "",
    userName: typeof handle === "string" ? handle : name,
    fullName: typeof display === "string" ? display : name,
    isBot: source.is_bot,
    isMe: botUserId !== undefined && source.user_id === botUserId,
  };
}

function toAttachment(
  file: NonNullable<InboundEvent["media"]>[number],
  fetchFile: (url: string) => Promise<Buffer>,
): Attachment {
  const { url, mime, size, filename } = file;
  const kind = file.kind === "voice" ? "audio" : file.kind;
  const type = kind === "image" || kind === "video" || kind === "audio" ? kind : "file";
  const known = { ...(mime && { mimeType: mime }), ...(filename && { name: filename }), ...(size && { size }) };
  return { type, url, ...known, fetchMetadata: { reference: url }, fetchData: () => fetchFile(url) };
}
