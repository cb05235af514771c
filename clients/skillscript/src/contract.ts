/**
 * AgentConnector 1.0, as skillscript's runtime calls it. These are types only: the application
 * passes our connector to its runtime, and TypeScript checks that the types match.
 */

/** Origin of a delivery, set by the runtime. */
export interface DeliveryMeta {
  dispatch_id: string;
  /** Milliseconds. */
  sent_at: number;
  origin: {
    skill_name: string;
    entry_skill_name?: string;
    /** Any string: the runtime sends values that its own types do not list. */
    trigger_kind: string;
    caller_agent_id?: string;
  };
  event_type?: string;
  correlation_id?: string;
}

/** Content to read, or a prompt to carry out. */
export type DeliveryPayload =
  | { kind: "augment"; content: string; meta: DeliveryMeta }
  | { kind: "template"; prompt: string; meta: DeliveryMeta };

/** Receipt of a delivery. Times are in milliseconds. */
export interface DeliveryReceipt {
  delivered_at: number;
  delivery_id?: string;
  session_id?: string;
  delivery_skipped?: boolean;
  warnings?: string[];
}

/** Options of a wake. */
export interface WakeOpts {
  context?: string;
  when?: "immediate" | number;
  session_id?: string;
}

/** Receipt of a wake. `woken` is true only if the agent is known to be awake. */
export interface WakeReceipt {
  woken_at: number;
  woken: boolean;
  session_id?: string;
  warnings?: string[];
}

/** Options of a request that waits for a reply. */
export interface RequestResponseOpts {
  timeout_ms: number;
}

/** A reply. */
export interface Response {
  correlation_id: string;
  content: string;
  sent_at: number;
  agent_id: string;
}

/** An agent that the caller can reach. */
export interface AgentDescriptor {
  agent_id: string;
  agent_name?: string;
  capabilities?: ("deliver" | "wake" | "augment" | "template")[];
}

/** Status of an agent. */
export type AgentStatus = "active" | "idle" | "asleep" | "unknown";

/** Type, version and features of a connector. */
export interface AgentConnectorCapabilities {
  connector_type: "agent_connector";
  implementation: string;
  contract_version: string;
  features: Partial<
    Record<"deliver" | "wake" | "list_agents" | "agent_status" | "health_check" | "request_response", boolean>
  >;
}

/** Interface through which the runtime reaches agents. */
export interface AgentConnector {
  list_agents(): Promise<AgentDescriptor[]>;
  deliver(agent_id: string, payload: DeliveryPayload): Promise<DeliveryReceipt>;
  wake(agent_id: string, opts?: WakeOpts): Promise<WakeReceipt>;
  health_check(): Promise<boolean>;
  request_response(agent_id: string, payload: DeliveryPayload, opts: RequestResponseOpts): Promise<Response>;
  agent_status?(agent_id: string): Promise<AgentStatus>;
}
