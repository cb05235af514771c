import type { Delivered } from "./entry.js";
import { AmbiguousError, FailedError, RefusedError, UnknownError } from "./errors.js";
import type { Action, MediaMessage, Op, Prompt, SendResult, Source } from "./wire.js";

/** A chat, and what tells it apart from others of the same id. The source of an event is one. */
export interface Place extends Partial<Pick<Source, "scope_id" | "thread_id" | "user_id" | "profile" | "botId">> {
  chat_id: string;
  platform?: string;
}

/** The bot of an action. */
export type Route = Pick<Place, "platform" | "botId">;

/** The result of a successful send. */
export type Receipt = Pick<SendResult, "message_id" | "thread_id" | "chat_info" | "note">;

/**
 * The operations of an agent. Each is executed at most once, and throws a `SendError` unless the desk reports its
 * success. A descriptor's `supported_ops` lists the operations that a bot can execute.
 */
export abstract class Actions {
  /** Sends an action and returns its result. */
  protected abstract request(action: Action, route: Route, requestId: string): Promise<SendResult>;

  /**
   * Executes an operation in a chat. The request id of an `UnknownError` repeats it: the desk executes each id once within
   * a day.
   */
  async act(place: Place, op: Op, requestId?: string): Promise<Receipt> {
    const metadata: Record<string, unknown> = {};
    for (const name of ["scope_id", "thread_id", "user_id", "profile"] as const) {
      if (place[name]) metadata[name] = place[name];
    }
    const action = { ...op, chat_id: place.chat_id, metadata: { ...metadata, ...op.metadata } };
    return this.#execute(action, place, requestId);
  }

  /** Sends a text. The desk splits long ones. */
  send(place: Place, text: string, options: { replyTo?: string; notify?: boolean } = {}): Promise<Receipt> {
    const metadata = options.notify ? { notify: true } : {};
    return this.act(place, { op: "send", content: text, reply_to: options.replyTo, metadata });
  }

  /** Replies where an entry was written. */
  reply({ event }: Delivered, text: string): Promise<Receipt> {
    return this.send(event.source, text, { replyTo: event.message_id ?? undefined });
  }

  edit(place: Place, messageId: string, text: string): Promise<Receipt> {
    return this.act(place, { op: "edit", message_id: messageId, content: text });
  }

  delete(place: Place, messageId: string): Promise<Receipt> {
    return this.act(place, { op: "delete", message_id: messageId });
  }

  /** Shows that the agent is at work, with a status where the platform has one. An empty status clears it. */
  typing(place: Place, status?: string): Promise<Receipt> {
    return this.act(place, { op: "typing", content: status });
  }

  /** Shows a part of an answer. The last draft has `final`. */
  draft(place: Place, draftId: number, text: string, final?: boolean): Promise<Receipt> {
    return this.act(place, { op: "draft", draft_id: draftId, content: text, final });
  }

  sendMedia(place: Place, media: MediaMessage): Promise<Receipt> {
    return this.act(place, { op: "send_media", ...media });
  }

  prompt(place: Place, prompt: Prompt): Promise<Receipt> {
    return this.act(place, { op: "prompt", ...prompt });
  }

  react(place: Place, messageId: string, emoji: string, remove?: boolean): Promise<Receipt> {
    return this.act(place, { op: "react", message_id: messageId, emoji, remove });
  }

  createThread(place: Place, name: string): Promise<Receipt> {
    return this.act(place, { op: "thread_create", thread_name: name });
  }

  renameThread(place: Place, threadId: string, name: string, onlyIfNamed?: string): Promise<Receipt> {
    const op = "thread_rename";
    return this.act(place, { op, message_id: threadId, thread_name: name, only_if_current_name: onlyIfNamed });
  }

  async getChatInfo(place: Place): Promise<{ name: string; type: string }> {
    const { chat_info } = await this.act(place, { op: "get_chat_info" });
    return chat_info ?? { name: place.chat_id, type: "dm" };
  }

  /** Answers the slash command of a conversation with the platform's token, which the desk holds. */
  followUp(session: string, text: string, kind = "discord.interaction_token"): Promise<Receipt> {
    const platform = kind.split(".")[0];
    return this.#execute({ op: "follow_up", session_key: session, kind, content: text }, { platform });
  }

  async #execute(action: Action, { platform, botId }: Route, requestId = nextRequestId()): Promise<Receipt> {
    const route = { platform: platform === "relay" ? undefined : platform, botId };
    const result = await this.request(action, route, requestId);
    if (result.success) return result;
    if (result.ambiguous) throw new AmbiguousError(requestId);
    if (result.code === "unrecorded") throw new UnknownError(requestId);
    const reason = result.error ?? "no reason given";
    throw result.code === "egress_declined" ? new RefusedError(reason) : new FailedError(reason);
  }
}

/** Distinguishes the requests of this process from those of all others of the agent. */
const PREFIX = crypto.randomUUID().replaceAll("-", "");
let requests = 0;

function nextRequestId(): string {
  return `${PREFIX}${(++requests).toString(16).padStart(8, "0")}`;
}
