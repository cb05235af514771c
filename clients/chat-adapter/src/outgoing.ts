import {
  AdapterError,
  AdapterRateLimitError,
  NetworkError,
  PermissionError,
  ValidationError,
} from "@chat-adapter/shared";
import type { ButtonElement, CardElement } from "chat";
import {
  BusyError,
  FailedError,
  NoLineError,
  type Op,
  OverError,
  type Place,
  type Prompt,
  type Receipt,
  RefusedError,
  TooLongError,
  UnknownError,
} from "nightdesk";

import { NAME } from "./thread-id.js";

/** An action in the response to a posted entry. */
export type PostedAction = Op & { chat_id: string };

/**
 * The turn of an entry that the desk posted. What the bot does travels in the response, so a message has no id of its
 * platform yet: it has a provisional one, by which it can be edited or deleted until the turn ends.
 */
export class PostedTurn {
  readonly #actions: (PostedAction | undefined)[] = [];

  /** The actions, in order. */
  get actions(): PostedAction[] {
    return this.#actions.filter((action) => action !== undefined);
  }

  act(place: Place, op: Op): Receipt {
    const metadata = { ...(place.thread_id && { thread_id: place.thread_id }), ...op.metadata };
    const at = "message_id" in op ? this.#find(op.message_id) : undefined;
    const earlier = at === undefined ? undefined : this.#actions[at];
    if (at !== undefined && op.op === "delete") {
      this.#actions[at] = undefined;
    } else if (at !== undefined && op.op === "edit" && earlier && "content" in earlier) {
      this.#actions[at] = { ...earlier, content: op.content };
    } else if (at === undefined && op.op !== "typing" && op.op !== "get_chat_info") {
      const length = this.#actions.push({ ...op, chat_id: place.chat_id, metadata });
      return { message_id: `${PROVISIONAL}${length - 1}` };
    }
    return {};
  }

  #find(messageId: string): number | undefined {
    const at = messageId.startsWith(PROVISIONAL) ? Number(messageId.slice(PROVISIONAL.length)) : NaN;
    return this.#actions[at] === undefined ? undefined : at;
  }
}

const PROVISIONAL = "posted-";

/** Returns the buttons of a card as options of a prompt. Links and menus stay in the card's text. */
export function optionsOf(card: CardElement | null): Prompt["options"] {
  const buttons = (card?.children ?? [])
    .flatMap((child) => (child.type === "actions" ? child.children : []))
    .filter((child): child is ButtonElement => child.type === "button" && child.disabled !== true);
  return buttons.map(({ id, value, label, style }) => ({ id: writeOption(id, value), label, ...(style && { style }) }));
}

/** Writes the id and the value of a button as the id of an option. */
export function writeOption(actionId: string, value: string | undefined): string {
  const parts = [actionId, ...(value === undefined ? [] : [value])];
  return parts.map((part) => encodeURIComponent(part)).join(":");
}

export function readOption(option: string): { actionId: string; value?: string } {
  const [actionId = "", value] = option.split(":").map((part) => decode(part));
  return value === undefined ? { actionId } : { actionId, value };
}

/** An option that this adapter did not write is its own id. */
function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Converts an error of a send to the Chat SDK's. */
export function toAdapterError(error: unknown): unknown {
  if (error instanceof RefusedError) return new PermissionError(NAME, error.reason);
  if (error instanceof BusyError) return new AdapterRateLimitError(NAME);
  if (error instanceof TooLongError) return new ValidationError(NAME, error.message);
  if (error instanceof FailedError) return new AdapterError(error.message, NAME, error.passes ? "network" : "failed");
  const isLine = error instanceof NoLineError || error instanceof UnknownError || error instanceof OverError;
  return isLine ? new NetworkError(NAME, error.message, error) : error;
}
