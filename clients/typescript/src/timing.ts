import { BACKOFF_FIRST, BACKOFF_MAX, RESTART_SPREAD, RETRY_AFTER_MAX, REVOCATIONS_MAX } from "./limits.js";

/** A timer that can be set again. */
export class Deadline {
  #timer: NodeJS.Timeout | undefined;

  constructor(private readonly act: () => void) {}

  set(ms: number): void {
    this.clear();
    this.#timer = setTimeout(this.act, ms);
  }

  clear(): void {
    clearTimeout(this.#timer);
  }
}

/** The delay before the next dial. */
export class Backoff {
  #step = 0;
  #revocations = 0;

  /** Begins anew, after a line that lived for a minute. */
  reset(): void {
    [this.#step, this.#revocations] = [0, 0];
  }

  /** Returns a random part of the current step, and climbs. After a restart of the desk all agents dial. */
  next(isRestart = false): number {
    const step = Math.min(BACKOFF_FIRST * 2 ** this.#step++, BACKOFF_MAX);
    return Math.random() * (isRestart ? Math.max(step, RESTART_SPREAD) : step);
  }

  /** Counts a close with 4401. True: the revocation is proven. One alone may be a mistake during a rotation. */
  isRevoked(): boolean {
    return ++this.#revocations >= REVOCATIONS_MAX;
  }
}

/** Returns the time of a `Retry-After` header in milliseconds, within a bound. */
export function readRetryAfter(header?: string | null): number {
  return /^\d{1,9}$/.test(header ?? "") ? Math.min(Number(header) * 1000, RETRY_AFTER_MAX) : 0;
}

/** Wakes all that wait. */
export class Bell {
  #waiting: (() => void)[] = [];

  ring(): void {
    for (const wake of this.#waiting.splice(0)) wake();
  }

  heard(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}

/** Waits for a time, without keeping the process alive. */
export function after(waitMs: number): Promise<undefined> {
  return new Promise((resolve) => AbortSignal.timeout(waitMs).addEventListener("abort", () => resolve(undefined)));
}
