import { LINE_WAIT } from "./limits.js";

abstract class NamedError extends Error {
  override readonly name = this.constructor.name;
}

/** The reason that a send was not made, or may not have been. */
export abstract class SendError extends NamedError {}

/**
 * The send was written, and then the line was lost, or no result came within half a minute. The SDK never repeats a send.
 * Under the same request id, the desk executes a repeat at most once.
 */
export class UnknownError extends SendError {
  static readonly why: string = "no result came; repeat it under its request id";

  constructor(readonly requestId: string) {
    super(`the send may have been done: ${new.target.why}`);
  }
}

/**
 * The desk itself does not know the end of the send, or only a part of it was done. A repeat under the same request id does
 * nothing and gets this error again; under another id it may be a duplicate.
 */
export class AmbiguousError extends UnknownError {
  static override readonly why = "in whole or in part; send it anew only if a duplicate is better than a loss";
}

/** Nothing was sent: there was no line. A later attempt may succeed. */
export class NoLineError extends notSent(`there was no line for ${LINE_WAIT / 1000} s; retry later`) {}

/** Nothing was sent: too many sends are in progress. */
export class BusyError extends notSent("too many sends are in progress or wait already; wait for their results") {}

/** Nothing was sent: it does not fit into a frame. */
export class TooLongError extends notSent("it is too long; make it shorter") {}

/** Nothing was sent: the agent disconnected, went idle, fell asleep, or was revoked. */
export class OverError extends notSent("the agent has no line any more; connect again") {}

/** The desk does not allow this operation there. A retry gets the same answer. */
export class RefusedError extends SendError {
  constructor(readonly reason: string) {
    super(`refused: ${reason}`);
  }
}

/** The send failed, for a reason of the platform or the desk. */
export class FailedError extends SendError {
  constructor(readonly reason: string) {
    super(`not done: ${reason}`);
  }

  /** True if the same send may succeed later, under a new request id. */
  get passes(): boolean {
    return this.reason.includes("network");
  }
}

/** The gateway was revoked, and a second dial proved it. */
export class RevokedError extends NamedError {}

/** A call over HTTP failed. Without a status, no readable response arrived and the call may have been executed. */
export class CallError extends NamedError {
  /** `code` is the reason for programs: `no-answer`, `unreadable`, or that of the desk, such as `no-reply`. */
  constructor(
    what: string,
    detail: string,
    readonly code: string,
    readonly status?: number,
    cause?: unknown,
    /** The time after which the desk wants the call again, if it gave one. */
    readonly retryAfterMs = 0,
  ) {
    super(`could not ${what}: ${detail} (${code}, status ${status ?? "unknown"})`, { cause });
  }

  /** True if the same call may succeed later. */
  get passes(): boolean {
    const { status = 0 } = this;
    return this.code === "no-answer" || status === 408 || status === 429 || status >= 500;
  }
}

/** A request is not signed by the desk, or not for this agent, or not now. */
export class VerificationError extends NamedError {}

function notSent(why: string) {
  return class extends SendError {
    constructor() {
      super(`nothing was sent: ${why}`);
    }
  };
}
