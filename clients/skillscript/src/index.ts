export { NightdeskAgentConnector, type Options } from "./connector.js";
export type * from "./contract.js";
export { DeliveryFailedError, TimeoutError, type CauseKind } from "./errors.js";
export type { Login } from "./login.js";
