import type { Receipt } from "./actions.js";
import type { Desk } from "./desk.js";
import { sessionKey } from "./session-key.js";
import type { Forward, InboundEvent } from "./wire.js";

/** An entry of the inbox, as every transport delivers it. */
export class Delivered {
  /** The key of the conversation: `sessionKey` of the source. Requests of one bot are one conversation. */
  readonly session: string;
  readonly #stopping = new AbortController();
  /** Fires when a stop of this conversation is requested. The turn decides what to do; to stop is to return. */
  readonly signal = this.#stopping.signal;

  /** The id of the entry over all its deliveries. Undefined: the desk expects no ack. */
  readonly id: string | undefined;
  /** The event. That of a platform's own request has no text and no chat. */
  readonly event: InboundEvent;
  readonly text: string;
  /** A platform's own request. No platform of this release has any. */
  readonly forward: Forward | undefined;

  constructor({ id, event, forward }: Pick<Delivered, "id" | "event"> & { forward?: Forward }) {
    [this.id, this.event, this.text, this.forward] = [id, event, event.text, forward];
    this.session = forward ? `forward:${forward.platform}:${forward.botId}` : sessionKey(event.source);
  }

  /** Fires the signal. */
  stop(): void {
    this.#stopping.abort();
  }
}

/** An entry of a line. Its turn acknowledges it, unless the turn throws. */
export class Entry extends Delivered {
  readonly #desk: Desk;

  constructor(desk: Desk, content: ConstructorParameters<typeof Delivered>[0]) {
    super(content);
    this.#desk = desk;
  }

  /**
   * Acknowledges the entry before its turn ends, for turns that take longer than half a minute. The desk does not
   * deliver it again, even if the turn throws or the process dies.
   */
  ack(): void {
    this.#desk.ack(this);
  }

  /** Replies where the message was written. */
  reply(text: string): Promise<Receipt> {
    return this.#desk.reply(this, text);
  }
}
