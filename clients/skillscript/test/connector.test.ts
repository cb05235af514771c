import assert from "node:assert/strict";
import { after, beforeEach, test } from "node:test";

import {
  type AgentConnector,
  DeliveryFailedError,
  type DeliveryPayload,
  NightdeskAgentConnector,
  TimeoutError,
} from "../src/index.js";
import { FakeDesk } from "./desk.js";

let desk = await FakeDesk.open();
let connector: AgentConnector = ours();

beforeEach(async () => {
  desk.close();
  desk = await FakeDesk.open();
  connector = ours();
});
after(() => desk.close());

function ours(timeout_ms?: number): NightdeskAgentConnector {
  const login = { token: "a-token" };
  return new NightdeskAgentConnector({ url: `${desk.url}/`, login, ...(timeout_ms ? { timeout_ms } : {}) });
}

const META = {
  dispatch_id: "d1",
  sent_at: 1_800_000_000_000,
  origin: { skill_name: "ping", trigger_kind: "supervisor" },
};
const AUGMENT: DeliveryPayload = { kind: "augment", content: "hi", meta: META };

function delivered(receipt: object): [number, unknown] {
  return [200, { agent: "perry", dispatch_id: "d1", dispatched: [{ ok: true, delivered: receipt }] }];
}

function woken(receipt: object): [number, unknown] {
  return [200, { agent: "perry", dispatch_id: "d1", dispatched: [{ ok: true, woken: receipt }] }];
}

function failed(kind: string, status: number | null) {
  return (error: unknown) => {
    assert(error instanceof DeliveryFailedError, String(error));
    assert.deepEqual([error.cause_kind, error.http_status], [kind, status]);
    return true;
  };
}

test("says what it can do without being made", () => {
  const said = NightdeskAgentConnector.staticCapabilities();
  assert.equal(said.connector_type, "agent_connector");
  assert.match(said.contract_version, /^\d+\.\d+\.\d+$/);
  assert(Object.values(said.features).every((can) => can === true));
});

test("hands an augment over, and gives the whole receipt back", async () => {
  const receipt = {
    delivered_at: 7,
    delivery_id: "l1",
    session_id: "kitchen",
    delivery_skipped: true,
    warnings: ["it sleeps"],
  };
  desk.will(delivered(receipt));
  assert.deepEqual(await connector.deliver("perry", AUGMENT), receipt);
  const [asked] = desk.asked;
  assert.deepEqual([asked?.method, asked?.path, asked?.bearer], ["POST", "/v1/letters", "a-token"]);
  assert.deepEqual(asked?.body, {
    op: "deliver",
    agent: "perry",
    kind: "augment",
    message: "hi",
    dispatch_id: "d1",
    origin: { skill_name: "ping", trigger_kind: "supervisor" },
  });
});

test("hands a template over as one, with its labels", async () => {
  desk.will(delivered({ delivered_at: 7 }));
  const meta = { ...META, event_type: "triage", correlation_id: "c1" };
  await connector.deliver("perry", { kind: "template", prompt: "do it", meta });
  const { kind, message, event_type, correlation_id } = desk.asked[0]?.body ?? {};
  assert.deepEqual([kind, message, event_type, correlation_id], ["template", "do it", "triage", "c1"]);
});

test("carries what an agent is woken with, and to which session", async () => {
  desk.will(woken({ woken_at: 7, woken: false, warnings: ["it sleeps"] }), woken({ woken_at: 7, woken: true }));
  const first = await connector.wake("perry@kitchen", { context: "get up", when: 1_900_000_000_000 });
  assert.deepEqual(first, { woken_at: 7, woken: false, warnings: ["it sleeps"] });
  await connector.wake("perry@kitchen", { context: "now", when: "immediate", session_id: "hall" });
  const [one, two] = desk.asked.map((asked) => asked.body);
  assert.deepEqual(
    [one?.["op"], one?.["agent"], one?.["message"], one?.["when"]],
    ["wake", "perry@kitchen", "get up", 1_900_000_000_000],
  );
  assert.deepEqual([two?.["session_id"], two?.["when"]], ["hall", "immediate"]);
  assert.notEqual(one?.["dispatch_id"], two?.["dispatch_id"], "two wakes are two letters");
});

test("a wake with nothing to tell leaves out what is not set", async () => {
  desk.will(woken({ woken_at: 7, woken: true }));
  await connector.wake("perry");
  const { dispatch_id: _, ...rest } = desk.asked[0]?.body ?? {};
  assert.deepEqual(rest, { op: "wake", agent: "perry", message: "" });
});

test("a break is asked about once more, as the same letter", async () => {
  desk.will("hangs up", woken({ woken_at: 7, woken: true }));
  assert.equal((await connector.wake("perry", { context: "get up" })).woken, true);
  const [one, two] = desk.asked.map((asked) => asked.body);
  assert.deepEqual(one, two);
  desk.will("hangs up", "hangs up");
  await assert.rejects(connector.deliver("perry", AUGMENT), failed("network", null));
});

test("waits for the reply, or says that there was none", async () => {
  const response = { correlation_id: "d1", content: "yes", sent_at: 9, agent_id: "perry" };
  desk.will([200, { agent: "perry", dispatch_id: "d1", dispatched: [], response }]);
  assert.deepEqual(await connector.request_response("perry", AUGMENT, { timeout_ms: 500 }), response);
  assert.equal(desk.asked[0]?.body["timeout_ms"], 500);
  desk.will([504, { title: "No reply", status: 504 }]);
  const late = connector.request_response("perry", AUGMENT, { timeout_ms: 500 });
  await assert.rejects(late, (error) => error instanceof TimeoutError && error.timeout_ms === 500);
});

test("what the desk refuses fails, and says why", async () => {
  desk.will([404, { title: "No such agent", detail: "GET /v1/agents lists them" }]);
  await assert.rejects(connector.deliver("nobody", AUGMENT), (error: Error) => {
    assert.match(error.message, /nobody: No such agent: GET/);
    return failed("client_validation", 404)(error);
  });
  desk.will([403, { title: "Refused" }]);
  await assert.rejects(connector.wake("perry"), failed("http_status", 403));
  desk.will([200, { dispatched: [] }]);
  await assert.rejects(connector.deliver("nobody", AUGMENT), failed("client_validation", null));
  desk.will([200, { dispatched: [{ ok: false, error: "the host is away" }] }]);
  await assert.rejects(connector.deliver("perry", AUGMENT), /the host is away/);
  desk.will([200, "no JSON"]);
  await assert.rejects(connector.deliver("perry", AUGMENT), failed("malformed_response", 200));
  desk.will([302, {}]);
  await assert.rejects(connector.deliver("perry", AUGMENT), failed("http_status", 302));
});

test("a desk that says nothing fails in time", async () => {
  desk.will("says nothing");
  await assert.rejects(ours(200).deliver("perry", AUGMENT), failed("timeout", null));
});

test("lists who can be reached, and how it stands with them", async () => {
  const agents = [{ agent_id: "perry", capabilities: ["deliver"], status: "asleep", sessions: ["kitchen"] }];
  desk.will([200, { agents }], [200, { agents }], [200, { agents }]);
  assert.deepEqual(await connector.list_agents(), [{ agent_id: "perry", capabilities: ["deliver"] }]);
  assert.equal(await connector.agent_status?.("perry@kitchen"), "asleep");
  assert.equal(await connector.agent_status?.("nobody"), "unknown");
});

test("is healthy if the desk knows us", async () => {
  desk.will([200, { agents: [] }], [401, {}]);
  assert.equal(await connector.health_check(), true);
  assert.equal(await connector.health_check(), false);
  desk.close();
  assert.equal(await connector.health_check(), false);
});

test("settings that nobody could use are refused at once", () => {
  assert.throws(() => new NightdeskAgentConnector({ url: "ftp://desk", login: { token: "t" } }), /http or https/);
  assert.throws(() => new NightdeskAgentConnector({ url: "https://desk", login: { token: "" } }), /login/);
  assert.throws(() => NightdeskAgentConnector.fromEnv({}), /NIGHTDESK_URL/);
  assert.throws(() => NightdeskAgentConnector.fromEnv({ NIGHTDESK_URL: "https://desk" }), /login/);
  NightdeskAgentConnector.fromEnv({ NIGHTDESK_URL: "https://desk", NIGHTDESK_TOKEN: "t" });
});
