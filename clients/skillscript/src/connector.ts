import type {
  AgentConnector,
  AgentConnectorCapabilities,
  AgentDescriptor,
  AgentStatus,
  DeliveryPayload,
  DeliveryReceipt,
  RequestResponseOpts,
  Response,
  WakeOpts,
  WakeReceipt,
} from "./contract.js";
import { Desk, type Letter, type Sent } from "./desk.js";
import { DeliveryFailedError } from "./errors.js";
import { type Options, optionsFromEnv } from "./options.js";

/**
 * Sends skills' notifications to a desk, which stores them until their agents ack them. A wake
 * carries its context as the message. `woken` is the desk's value: it is true only for an agent
 * with an open line.
 */
export class NightdeskAgentConnector implements AgentConnector {
  private readonly desk: Desk;

  constructor(options: Options) {
    this.desk = Desk.open(options);
  }

  /** Reads `NIGHTDESK_URL`, and `NIGHTDESK_TOKEN` or `NIGHTDESK_GATEWAY` with `NIGHTDESK_SECRET`. */
  static fromEnv(env: Record<string, string | undefined> = process.env): NightdeskAgentConnector {
    return new NightdeskAgentConnector(optionsFromEnv(env));
  }

  static staticCapabilities(): AgentConnectorCapabilities {
    return {
      connector_type: "agent_connector",
      implementation: "nightdesk",
      contract_version: "1.0.0",
      features: {
        deliver: true,
        wake: true,
        list_agents: true,
        agent_status: true,
        health_check: true,
        request_response: true,
      },
    };
  }

  async list_agents(): Promise<AgentDescriptor[]> {
    return (await this.agents()).map(({ status: _, sessions: __, ...descriptor }) => descriptor);
  }

  async deliver(agent_id: string, payload: DeliveryPayload): Promise<DeliveryReceipt> {
    const sent = await this.desk.send({ op: "deliver", agent: agent_id, ...told(payload) });
    return receipt(agent_id, sent, "delivered");
  }

  async wake(agent_id: string, opts: WakeOpts = {}): Promise<WakeReceipt> {
    const letter: Letter = { op: "wake", agent: agent_id, message: opts.context ?? "" };
    if (opts.when !== undefined) letter.when = opts.when;
    if (opts.session_id !== undefined) letter.session_id = opts.session_id;
    // The runtime has no id for a wake. With an id of ours, a retry of this request is the same letter.
    letter.dispatch_id = crypto.randomUUID();
    return receipt(agent_id, await this.desk.send(letter), "woken");
  }

  async health_check(): Promise<boolean> {
    return this.desk.get("/v1/agents").then(
      () => true,
      () => false,
    );
  }

  async request_response(
    agent_id: string,
    payload: DeliveryPayload,
    opts: RequestResponseOpts,
  ): Promise<Response> {
    const { timeout_ms } = opts;
    const sent = await this.desk.send({ op: "exchange", agent: agent_id, timeout_ms, ...told(payload) });
    if (sent.response === undefined) {
      throw new DeliveryFailedError(agent_id, "malformed_response", "there is no reply in the answer");
    }
    return sent.response;
  }

  async agent_status(agent_id: string): Promise<AgentStatus> {
    const [name] = agent_id.split("@", 1);
    const found = (await this.agents()).find((agent) => agent.agent_id === name);
    return found?.status ?? "unknown";
  }

  private async agents(): Promise<(AgentDescriptor & { status: AgentStatus; sessions?: string[] })[]> {
    const { agents } = (await this.desk.get("/v1/agents")) as { agents: never[] };
    return agents;
  }
}

/** Returns a payload's message and its ids. The desk takes the sender from the credentials. */
function told(payload: DeliveryPayload): Omit<Letter, "op" | "agent"> {
  const { kind, meta } = payload;
  const letter: Omit<Letter, "op" | "agent"> = {
    kind,
    message: kind === "augment" ? payload.content : payload.prompt,
    dispatch_id: meta.dispatch_id,
    origin: meta.origin,
  };
  if (meta.event_type !== undefined) letter.event_type = meta.event_type;
  if (meta.correlation_id !== undefined) letter.correlation_id = meta.correlation_id;
  return letter;
}

/** Returns the receipt of the connector that took the letter, or throws the first error. */
function receipt<K extends "delivered" | "woken">(
  agent: string,
  sent: Sent,
  kind: K,
): NonNullable<Sent["dispatched"][number][K]> {
  const found = sent.dispatched.find((way) => way.ok)?.[kind];
  if (found === undefined) {
    const words = sent.dispatched.find((way) => way.error !== undefined)?.error;
    throw new DeliveryFailedError(agent, "client_validation", words ?? "nobody reaches that agent");
  }
  return found;
}
