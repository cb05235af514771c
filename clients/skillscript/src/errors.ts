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

/** The contract whose call failed. */
export type ConnectorType = "skill_store" | "data_store";

/** A call of a store failed, with the names and fields of the runtime's own classes. */
export class ConnectorError extends Error {
  override readonly name: string = "ConnectorError";
  readonly implementation = "nightdesk";

  constructor(
    readonly connector_type: ConnectorType,
    words: string,
  ) {
    super(words);
  }
}

/** There is no skill of this name. */
export class SkillNotFoundError extends ConnectorError {
  override readonly name = "SkillNotFoundError";

  constructor(readonly skill_name: string) {
    super("skill_store", `no skill is called ${skill_name}`);
  }
}

/** The skill has no such version. */
export class VersionNotFoundError extends ConnectorError {
  override readonly name = "VersionNotFoundError";

  constructor(
    readonly skill_name: string,
    readonly version: string,
  ) {
    super("skill_store", `${skill_name} has no version ${version}`);
  }
}

/** The skill cannot be stored or removed so. */
export class StorageConflictError extends ConnectorError {
  override readonly name = "StorageConflictError";

  constructor(
    readonly skill_name: string,
    readonly reason: string,
  ) {
    super("skill_store", `${skill_name}: ${reason}`);
  }
}

/** The skill has no signature that the desk accepts. */
export class ApprovalRejectedError extends ConnectorError {
  override readonly name = "ApprovalRejectedError";

  constructor(
    readonly skill_name: string,
    readonly reason: string,
  ) {
    super("skill_store", `${skill_name}: ${reason}`);
  }
}

/** The query is invalid. */
export class QueryError extends ConnectorError {
  override readonly name = "QueryError";

  constructor(
    connector_type: ConnectorType,
    readonly reason: string,
  ) {
    super(connector_type, reason);
  }
}

/** The query has filters that the store does not apply. It was not made. */
export class UnsupportedFilterError extends Error {
  override readonly name = "UnsupportedFilterError";
  readonly substrate = "nightdesk";

  constructor(
    readonly unsupportedKeys: string[],
    readonly supportedKeys: string[],
  ) {
    super(`unsupported filters: ${unsupportedKeys.join(", ")}; supported are ${supportedKeys.join(", ")}`);
  }
}
