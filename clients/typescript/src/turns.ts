import type { Delivered } from "./entry.js";
import { ENTRIES_WAITING_MAX, HANDLED_MAX } from "./limits.js";
import { Bell } from "./timing.js";

/** The newest ids of entries that need no second turn. */
export class HandledIds extends Set<string> {
  override add(id: string): this {
    super.add(id);
    const [oldest] = this;
    if (this.size > HANDLED_MAX && oldest !== undefined) this.delete(oldest);
    return this;
  }
}

/**
 * Decides which entry gets a turn, and which ack counts. An entry is acked after its turn succeeded or acked it, and only
 * on a line that delivered it. No entry has two turns, except one whose turn failed. Entries of one session have their
 * turns in order, one at a time. Those that take them decide how many run at once.
 */
export class Turns<E extends Delivered> {
  /** In the order of arrival. */
  #waiting: E[] = [];
  readonly #running = new Set<E>();
  readonly #handled = new HandledIds();
  /** Entries that this line delivered and that were not acked on it. */
  readonly #unacked = new Set<string>();
  readonly #bell = new Bell();
  #isOver = false;

  constructor(private readonly writeAck: (id: string) => void) {}

  /** True if no entry waits and no turn runs. */
  get isSettled(): boolean {
    return this.#waiting.length === 0 && this.#running.size === 0;
  }

  /** True if this line delivered an entry that was not acked on it. */
  get hasUnacked(): boolean {
    return this.#unacked.size > 0;
  }

  /** Takes an entry of the desk. False: more entries arrived than can wait. */
  accept(entry: E): boolean {
    const { id } = entry;
    if (id !== undefined) {
      this.#unacked.add(id);
      if (this.#handled.has(id)) {
        this.#ack(id);
        return true;
      }
      if ([...this.#waiting, ...this.#running].some((held) => held.id === id)) return true;
    }
    if (this.#waiting.length >= ENTRIES_WAITING_MAX) return false;
    this.#waiting.push(entry);
    this.#bell.ring();
    return true;
  }

  /** Waits for the next turn. Undefined: no further one comes. */
  async next(): Promise<E | undefined> {
    while (!this.#isOver) {
      const busy = new Set([...this.#running].map(({ session }) => session));
      const index = this.#waiting.findIndex(({ session }) => !busy.has(session));
      const [entry] = index < 0 ? [] : this.#waiting.splice(index, 1);
      if (entry) {
        this.#running.add(entry);
        return entry;
      }
      await this.#bell.heard();
    }
    return undefined;
  }

  /** From here on the entry never gets a turn again. */
  ack(entry: E): void {
    if (entry.id === undefined) return;
    this.#handled.add(entry.id);
    this.#ack(entry.id);
  }

  /** Ends a turn. After a failure the entry stays unacked, and comes again on another line. */
  end(entry: E, isHandled: boolean): void {
    if (isHandled) this.ack(entry);
    this.#running.delete(entry);
    this.#bell.ring();
  }

  /** Stops the running turn of exactly this session. False: there is none. */
  stop(session: string): boolean {
    const entry = [...this.#running].find((running) => running.session === session);
    entry?.stop();
    return entry !== undefined;
  }

  /** Handles the end of the line. Waiting entries come again on the next one. */
  lineEnded(): void {
    this.#unacked.clear();
    this.#waiting = this.#waiting.filter(({ id }) => id === undefined);
  }

  /** Handles the end of the agent. */
  finish(): void {
    this.#isOver = true;
    this.lineEnded();
    this.#bell.ring();
  }

  #ack(id: string): void {
    if (this.#unacked.delete(id)) this.writeAck(id);
  }
}
