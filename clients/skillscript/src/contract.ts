/**
 * AgentConnector 1.0, as skillscript's runtime calls it. Only shapes: whoever has the runtime
 * passes our connector to it, and TypeScript sees that they fit.
 */

/** From where a delivery comes. The runtime makes it. */
export interface DeliveryMeta {
  dispatch_id: string;
  /** Milliseconds. */
  sent_at: number;
  origin: {
    skill_name: string;
    entry_skill_name?: string;
    /** Any word: the runtime itself sends some that its types do not have. */
    trigger_kind: string;
    caller_agent_id?: string;
  };
  event_type?: string;
  correlation_id?: string;
}

/** Something to take in, or something to carry out. */
export type DeliveryPayload =
  | { kind: "augment"; content: string; meta: DeliveryMeta }
  | { kind: "template"; prompt: string; meta: DeliveryMeta };

/** That something was handed over. Times are milliseconds. */
export interface DeliveryReceipt {
  delivered_at: number;
  delivery_id?: string;
  session_id?: string;
  delivery_skipped?: boolean;
  warnings?: string[];
}

/** With what an agent is woken. */
export interface WakeOpts {
  context?: string;
  when?: "immediate" | number;
  session_id?: string;
}

/** Whether it was woken, honestly. */
export interface WakeReceipt {
  woken_at: number;
  woken: boolean;
  session_id?: string;
  warnings?: string[];
}

/** For how long a reply is waited for. */
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

/** Somebody who can be reached. */
export interface AgentDescriptor {
  agent_id: string;
  agent_name?: string;
  capabilities?: ("deliver" | "wake" | "augment" | "template")[];
}

/** How it stands with somebody. */
export type AgentStatus = "active" | "idle" | "asleep" | "unknown";

/** What a connector is and can do. */
export interface AgentConnectorCapabilities {
  connector_type: "agent_connector";
  implementation: string;
  contract_version: string;
  features: Partial<
    Record<"deliver" | "wake" | "list_agents" | "agent_status" | "health_check" | "request_response", boolean>
  >;
}

/** A way to hand something to agents. */
export interface AgentConnector {
  list_agents(): Promise<AgentDescriptor[]>;
  deliver(agent_id: string, payload: DeliveryPayload): Promise<DeliveryReceipt>;
  wake(agent_id: string, opts?: WakeOpts): Promise<WakeReceipt>;
  health_check(): Promise<boolean>;
  request_response(agent_id: string, payload: DeliveryPayload, opts: RequestResponseOpts): Promise<Response>;
  agent_status?(agent_id: string): Promise<AgentStatus>;
}
