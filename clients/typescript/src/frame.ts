import { MESSAGE_BYTES_MAX } from "./limits.js";
import type { Descriptor, Forward, Frame, InboundEvent, SendResult, Source } from "./wire.js";

type Json = Record<string, unknown>;

const CHAT_TYPES = ["dm", "group", "channel", "thread", "forum"];
const MESSAGE_TYPES = ["text", "location", "photo", "video", "audio", "voice", "document", "sticker", "command"];
const NO_SOURCE: Source = {
  ...{ platform: "relay", chat_id: "", chat_type: "dm", chat_name: null, user_id: null, user_name: null },
  ...{ thread_id: null, chat_topic: null, is_bot: false, message_is_edit: false },
};

/**
 * Reads a frame of the desk, as tolerantly as the desk reads: where the SDK itself depends on a field, one of another type
 * counts as absent and a whole number counts as an id. Undefined: an unknown frame, or not a JSON object. */
export function readFrame(line: string): Frame | undefined {
  try {
    return frameOf(JSON.parse(line));
  } catch {
    return undefined;
  }
}

/** Reads a frame that is a value already. */
export function frameOf(value: unknown): Frame | undefined {
  const frame = object(value);
  const { bufferId, requestId, session_key, stop_id } = texts(frame);
  switch (frame.type) {
    case "descriptor":
      return { type: "descriptor", descriptor: readDescriptor(object(frame.descriptor)) };
    case "inbound":
      return { type: "entry", id: bufferId, event: readEvent(frame.event) };
    case "passthrough_forward":
      return { type: "entry", id: bufferId, event: readEvent({}), forward: frame.forward as Forward };
    case "outbound_result":
      return requestId === undefined ? undefined : { type: "result", requestId, result: readResult(frame.result) };
    case "interrupt_inbound":
      return session_key === undefined ? undefined : { type: "interrupt", session_key, stop_id };
    case "going_idle_ack":
      return { type: "idle" };
    default:
      return undefined;
  }
}

/** Reads the result of a send. */
export function readResult(value: unknown): SendResult {
  const result = object(value);
  return { ...result, ...texts(result), success: Boolean(result.success) };
}

function readEvent(value: unknown): InboundEvent {
  const raw = object(value);
  const { text = "", message_id = null, message_type = "" } = texts(raw);
  const from = object(raw.source);
  const flags = { is_bot: Boolean(from.is_bot), message_is_edit: Boolean(from.message_is_edit) };
  const source: Source = { ...NO_SOURCE, ...texts({ scope_id: from.guild_id, ...from }), ...flags };
  if (!CHAT_TYPES.includes(source.chat_type)) source.chat_type = "group";
  const type = MESSAGE_TYPES.includes(message_type) ? message_type : "text";
  return { ...raw, text, message_id, message_type: type, source } as InboundEvent;
}

function readDescriptor(raw: Json): Descriptor {
  const { supported_ops = ["send", "edit", "typing", "follow_up"] } = raw as Partial<Descriptor>;
  return { ...(raw as Descriptor), supported_ops, len_unit: raw.len_unit === "utf16" ? "utf16" : "chars" };
}

/** Joins the parts of frames, and splits at line ends. */
export class FrameSplitter {
  #parts: Buffer[] = [];
  #bytes = 0;

  /** Returns the frames that are complete now. Undefined: an unfinished frame is too long. */
  push(part: Buffer): string[] | undefined {
    const end = part.lastIndexOf(0x0a) + 1;
    const whole = end === 0 ? "" : Buffer.concat([...this.#parts, part.subarray(0, end)]).toString("utf8");
    if (end > 0) [this.#parts, this.#bytes] = [[], 0];
    if (end < part.length) this.#parts.push(part.subarray(end));
    this.#bytes += part.length - end;
    return this.#bytes > MESSAGE_BYTES_MAX ? undefined : whole.split("\n").filter((line) => line !== "");
  }
}

/** Returns an object; of anything else an empty one. */
export function object(value: unknown): Json {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : {};
}

/** Returns the fields that are texts, or whole numbers as texts. */
export function texts(raw: Json): Record<string, string | undefined> {
  const known = Object.entries(raw).filter(([, value]) => typeof value === "string" || Number.isSafeInteger(value));
  return Object.fromEntries(known.map(([name, value]) => [name, String(value)]));
}
