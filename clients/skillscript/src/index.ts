export { NightdeskAgentConnector } from "./connector.js";
export type * from "./contract.js";
export { NightdeskDataStore } from "./data-store.js";
export {
  ApprovalRejectedError,
  ConnectorError,
  DeliveryFailedError,
  QueryError,
  SkillNotFoundError,
  StorageConflictError,
  TimeoutError,
  UnsupportedFilterError,
  VersionNotFoundError,
  type CauseKind,
  type ConnectorType,
} from "./errors.js";
export type { Login } from "./login.js";
export type { Options } from "./options.js";
export { NightdeskSkillStore } from "./skill-store.js";
export type * from "./store-contract.js";
export type { ErrorMapper } from "./store-errors.js";
