import type { Route } from "./actions.js";
import { BusyError, NoLineError, OverError, type SendError, TooLongError, UnknownError } from "./errors.js";
import * as limits from "./limits.js";
import type { Action, SendResult } from "./wire.js";

interface Send {
  frame: string;
  bytes: number;
  timer: NodeJS.Timeout;
  resolve: (result: SendResult) => void;
  reject: (why: SendError) => void;
}

/** The sends of an agent until they are answered. Each is written at most once, and always gets an answer. */
export class Sends {
  /** By their request ids, in the order of the calls. */
  readonly #waiting = new Map<string, Send>();
  readonly #inFlight = new Map<string, Send>();
  #isOver = false;

  /** `line` returns the line if every hello on it is answered. */
  constructor(private readonly line: () => { readonly isWritable: boolean; write(frame: string): void } | undefined) {}

  /** True if no caller waits for an answer. */
  get isSettled(): boolean {
    return this.#waiting.size === 0 && this.#inFlight.size === 0;
  }

  async request(action: Action, route: Route, requestId: string): Promise<SendResult> {
    if (this.#isOver) throw new OverError();
    const frame = `${JSON.stringify({ type: "outbound", requestId, ...route, action })}\n`;
    const bytes = Buffer.byteLength(frame);
    if (bytes > limits.FRAME_BYTES_MAX) throw new TooLongError();
    const bytesWaiting = [...this.#waiting.values()].reduce((sum, send) => sum + send.bytes, bytes);
    const isFull = this.#waiting.size >= limits.SENDS_WAITING_MAX || bytesWaiting > limits.SENDS_WAITING_BYTES_MAX;
    if (isFull || this.#waiting.has(requestId) || this.#inFlight.has(requestId)) throw new BusyError();
    return new Promise((resolve, reject) => {
      const giveUp = () => this.#take(requestId)?.reject(this.line() ? new BusyError() : new NoLineError());
      this.#waiting.set(requestId, { frame, bytes, timer: setTimeout(giveUp, limits.LINE_WAIT), resolve, reject });
      this.flush();
    });
  }

  /** Writes what waits, while there is room. */
  flush(): void {
    for (const [requestId, send] of this.#waiting) {
      const line = this.line();
      if (!line?.isWritable || this.#inFlight.size >= limits.SENDS_IN_FLIGHT_MAX) return;
      this.#take(requestId);
      this.#inFlight.set(requestId, send);
      send.timer = setTimeout(() => this.#fail(requestId), limits.RESULT_WAIT);
      line.write(send.frame);
    }
  }

  /** Takes a result of the desk. One that no caller waits for any more is ignored. */
  answer(requestId: string, result: SendResult): void {
    this.#take(requestId)?.resolve(result);
    this.flush();
  }

  /** Handles the end of the line: the desk may have executed what was written on it. */
  lineEnded(): void {
    for (const requestId of [...this.#inFlight.keys()]) this.#fail(requestId);
  }

  /** Handles the end of the agent. */
  end(): void {
    this.#isOver = true;
    this.lineEnded();
    for (const requestId of [...this.#waiting.keys()]) this.#take(requestId)?.reject(new OverError());
  }

  #fail(requestId: string): void {
    this.#take(requestId)?.reject(new UnknownError(requestId));
    this.flush();
  }

  #take(requestId: string): Send | undefined {
    const send = this.#inFlight.get(requestId) ?? this.#waiting.get(requestId);
    clearTimeout(send?.timer);
    this.#inFlight.delete(requestId);
    this.#waiting.delete(requestId);
    return send;
  }
}
