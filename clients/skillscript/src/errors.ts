/** Kind of failure, with the names of the runtime's own example. */
export type CauseKind = "network" | "timeout" | "http_status" | "malformed_response" | "client_validation";

/** A request to the desk failed, or no connector took the letter. */
export class DeliveryFailedError extends Error {
  override readonly name = "DeliveryFailedError";

  constructor(
    readonly agent_id: string,
    readonly cause_kind: CauseKind,
    words: string,
    readonly http_status: number | null = null,
  ) {
    super(`could not reach ${agent_id}: ${words}`);
  }
}

/** The agent did not reply in time. */
export class TimeoutError extends Error {
  override readonly name = "TimeoutError";

  constructor(readonly timeout_ms: number) {
    super(`no reply within ${timeout_ms} ms`);
  }
}
