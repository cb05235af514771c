/** The objects of the line, with the names that they have on the wire: docs/protocol.md sections 2, 3 and 5. */

/** The origin of an event. It is also the place of a reply. */
export interface Source {
  platform: string;
  chat_id: string;
  chat_type: "dm" | "group" | "channel" | "thread" | "forum";
  chat_name: string | null;
  user_id: string | null;
  user_name: string | null;
  thread_id: string | null;
  chat_topic: string | null;
  is_bot: boolean;
  message_is_edit: boolean;
  user_id_alt?: string;
  /** A guild or server. */
  scope_id?: string;
  profile?: string;
  prospective_thread_id?: string;
  /** The platform's id of the bot that got the message, or that acts there. */
  botId?: string;
  /** `user_display_name`, `user_handle`, `chat_id_alt`, `guild_id`, `parent_chat_id`, `message_id`. */
  [further: string]: unknown;
}

/** What a platform reported. */
export interface InboundEvent {
  text: string;
  message_type: "text" | "location" | "photo" | "video" | "audio" | "voice" | "document" | "sticker" | "command";
  message_id: string | null;
  source: Source;
  reply_to?: { text?: string; author?: string; is_own?: boolean };
  /** Attached files. `url` is a reference: see `Media.download`. */
  media?: { url: string; mime?: string; kind?: string; size?: number; filename?: string; caption?: string }[];
  context?: { text?: string; source?: { user_name?: string; user_id?: string } }[];
  prompt_response?: { prompt_id: string; option_id: string; label?: string; prompt_message_id?: string };
  fire?: { job_id: string; fire_at: string; fire_id: string };
  /** A letter of another agent. A reply to its entry is the reply to the letter. */
  letter?: { letter_id: string; from: string; dispatch_id: string; kind: string; correlation_id?: string };
  /** `reply_to_message_id`, `media_urls`, `context_error`. */
  [further: string]: unknown;
}

/** A request of the platform as docs/protocol.md section 3 describes it, verified by the desk and without credentials. */
export type Forward = { platform: string; botId: string; [further: string]: unknown };

/** The abilities of a bot. */
export interface Descriptor {
  platform: string;
  label: string;
  max_message_length: number;
  len_unit: "chars" | "utf16";
  supported_ops: string[];
  /** `contract_version`, `markdown_dialect`, flags such as `supports_edit`, and hints for a model. */
  [further: string]: unknown;
}

/** The result of a send, as the desk reports it. */
export interface SendResult {
  success: boolean;
  message_id?: string;
  thread_id?: string;
  chat_info?: { name: string; type: string };
  note?: string;
  error?: string;
  code?: string;
  ambiguous?: boolean;
}

/** A file of a message. */
export interface MediaMessage {
  media_kind: "image" | "voice" | "audio" | "video" | "document";
  /** A reference, as `Media.upload` returns it and events contain it. */
  source_url: string;
  content?: string;
  filename?: string;
  reply_to?: string;
}

/** A question with buttons. The press is an entry with `event.prompt_response`. */
export interface Prompt {
  prompt_kind: "approval" | "clarify" | "choice";
  prompt_id: string;
  content: string;
  options: { id: string; label?: string; style?: string }[];
  reply_to?: string;
  timeout_s?: number;
}

/** An operation in a chat. */
export type Op = { metadata?: Record<string, unknown> } & (
  | { op: "send"; content: string; reply_to?: string }
  | { op: "edit"; message_id: string; content: string }
  | { op: "delete"; message_id: string }
  | { op: "typing"; content?: string }
  | { op: "draft"; draft_id: number; content: string; final?: boolean }
  | ({ op: "send_media" } & MediaMessage)
  | ({ op: "prompt" } & Prompt)
  | { op: "react"; message_id: string; emoji: string; remove?: boolean }
  | { op: "thread_create"; thread_name: string }
  | { op: "thread_rename"; message_id: string; thread_name: string; only_if_current_name?: string }
  | { op: "get_chat_info" }
);

/** An action of an outbound frame. `follow_up` answers a slash command with the token that the desk holds. */
export type Action =
  (Op & { chat_id: string }) | { op: "follow_up"; session_key: string; kind: string; content: string };

/** A frame of the desk. An entry is an `inbound` or a `passthrough_forward`. */
export type Frame =
  | { type: "descriptor"; descriptor: Descriptor }
  | { type: "entry"; id: string | undefined; event: InboundEvent; forward?: Forward }
  | { type: "result"; requestId: string; result: SendResult }
  | { type: "interrupt"; session_key: string; stop_id: string | undefined }
  | { type: "idle" };
