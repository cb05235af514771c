import assert from "node:assert/strict";
import { after, beforeEach, test } from "node:test";

import {
  ApprovalRejectedError,
  ConnectorError,
  type DataStore,
  NightdeskDataStore,
  NightdeskSkillStore,
  QueryError,
  SkillNotFoundError,
  type SkillStore,
  StorageConflictError,
  UnsupportedFilterError,
  VersionNotFoundError,
} from "../src/index.js";
import { FakeDesk } from "./desk.js";

let desk = await FakeDesk.open();
let skills: SkillStore = new NightdeskSkillStore(options());
let data: DataStore = new NightdeskDataStore(options());

beforeEach(async () => {
  desk.close();
  desk = await FakeDesk.open();
  skills = new NightdeskSkillStore(options());
  data = new NightdeskDataStore(options());
});
after(() => desk.close());

function options() {
  return { url: desk.url, login: { token: "a-token" }, timeout_ms: 2_000 };
}

const HASH = "ab".repeat(32);
const META = {
  name: "brief",
  version: HASH.slice(0, 12),
  content_hash: HASH,
  status: "Draft" as const,
  created_at: 1,
  updated_at: 2,
};
const SKILL = { name: "brief", version: META.version, content_hash: HASH, source: "t:\n", metadata: META };
const CHANGE = { name: "brief", version: META.version, content_hash: HASH, status: "Draft", changed_at: 2 };
const MISSING: [number, unknown] = [404, { code: "not-found", title: "Not found" }];

function calls(): string[] {
  return desk.asked.map(({ method, path }) => `${method} ${path}`);
}

test("both stores say what they can do without being made", () => {
  for (const [capabilities, type] of [
    [NightdeskSkillStore.staticCapabilities(), "skill_store"],
    [NightdeskDataStore.staticCapabilities(), "data_store"],
  ] as const) {
    assert.equal(capabilities.connector_type, type);
    assert.match(capabilities.contract_version, /^\d+\.\d+\.\d+$/);
    assert(Object.values(capabilities.features).every((can) => typeof can === "boolean"));
  }
});

test("a skill is loaded whole, also in an earlier version", async () => {
  desk.will([200, { ...SKILL, status: "Draft" }], [200, { ...SKILL, status: "Draft" }], [200, SKILL]);
  assert.deepEqual(await skills.load("brief"), SKILL);
  await skills.load("brief", "0123456789ab");
  assert.deepEqual(await skills.metadata("brief"), META);
  const want = ["GET /v1/skills/brief", "GET /v1/skills/brief?version=0123456789ab", "GET /v1/skills/brief"];
  assert.deepEqual(calls(), want);
  assert.equal(desk.asked[0]?.bearer, "a-token");
});

test("a missing skill and a missing version are told apart", async () => {
  desk.will(MISSING, MISSING, MISSING, MISSING, [200, SKILL]);
  const missing = (error: unknown) =>
    error instanceof SkillNotFoundError &&
    error instanceof ConnectorError &&
    error.connector_type === "skill_store" &&
    error.skill_name === "brief";
  await assert.rejects(skills.load("brief"), missing);
  await assert.rejects(skills.load("brief", "0"), missing);
  await assert.rejects(
    skills.load("brief", "0"),
    (error) => error instanceof VersionNotFoundError && error.version === "0",
  );
  await assert.rejects(skills.metadata("../up"), SkillNotFoundError);
  assert.equal(desk.asked.length, 5, "a name that is none is not asked for");
});

test("a query passes its filter on, and the token needs no skill", async () => {
  desk.will([200, { skills: [META], version: "v1" }], [200, { skills: [], version: "v1" }]);
  const filter = { status: ["Draft" as const], tag: "day", name_pattern: "^b", unheard_of: true };
  assert.deepEqual(await skills.query(filter), [META]);
  assert.equal(await skills.version?.(), "v1");
  assert.deepEqual(
    desk.asked.map(({ path, body }) => [path, body]),
    [
      ["/v1/skill-query", filter],
      ["/v1/skill-query", { limit: 0 }],
    ],
  );
});

test("bytes are stored as they are, and may replace others", async () => {
  desk.will([200, CHANGE], [200, { ...CHANGE, previous_status: "Draft" }], [200, [CHANGE]]);
  const bag = { from: "elsewhere" };
  assert.deepEqual(await skills.store("brief", "t:\r\n", { author: "cc", metadata_bag: bag }), CHANGE);
  assert.deepEqual(desk.asked[0]?.body, { name: "brief", source: "t:\r\n", overwrite: true, metadata_bag: bag });
  assert.equal((await skills.update_status("brief", "Approved")).previous_status, "Draft");
  assert.deepEqual(desk.asked[1]?.body, { status: "Approved" });
  assert.deepEqual(await skills.versions("brief"), [CHANGE]);
});

test("refusals have the runtime's names", async () => {
  desk.will([409, { code: "skill-conflict", title: "Skill conflict", detail: "it belongs to owl" }]);
  await assert.rejects(
    skills.store("brief", "x"),
    (error) => error instanceof StorageConflictError && /belongs to owl/.test(error.reason),
  );
  desk.will([403, { code: "not-approved", title: "Skill approval rejected" }]);
  await assert.rejects(skills.update_status("brief", "Approved"), ApprovalRejectedError);
  desk.will([400, { code: "bad-request", title: "Invalid request" }]);
  await assert.rejects(skills.query({ name_pattern: "(" }), QueryError);
  desk.will([503, { title: "Unavailable" }]);
  await assert.rejects(skills.query(), (error) => error instanceof ConnectorError && error.name === "ConnectorError");
});

test("only an operator removes a skill", async () => {
  desk.will(MISSING, [200, SKILL]);
  await assert.rejects(skills.delete("brief"), SkillNotFoundError);
  await assert.rejects(skills.delete("brief"), StorageConflictError);
});

test("data is written, found, and null when it is missing", async () => {
  const entry = { id: "0a", summary: "blue", expires_at: null };
  desk.will([200, { id: "0a", created_at: 7 }], [200, { items: [entry] }], [200, entry], MISSING);
  const write = { content: "blue", tags: ["kitchen"], expires_at: null };
  assert.deepEqual(await data.write(write), { id: "0a", created_at: 7 });
  assert.deepEqual(desk.asked[0]?.body, write, "no end is told from none said");
  assert.deepEqual(await data.query({ query: "blue", domain_tags: ["kitchen"] }), [entry]);
  assert.deepEqual(await data.get("0a"), entry);
  assert.equal(await data.get("0b"), null);
  assert.deepEqual(calls().slice(2), ["GET /v1/data/0a", "GET /v1/data/0b"]);
});

test("an unsupported filter fails loud, with the filters that count", async () => {
  desk.will([400, { code: "unsupported-filter", title: "Unsupported filter" }]);
  await assert.rejects(data.query({ query: "x", tenant: "y", vault: "v" }), (error) => {
    assert(error instanceof UnsupportedFilterError && !(error instanceof ConnectorError));
    assert.deepEqual(error.unsupportedKeys, ["tenant"]);
    assert(error.supportedKeys.includes("vault"));
    return true;
  });
  const { manifest } = await data.manifest();
  assert(manifest.supported_filters?.includes("domain_tags"));
});

test("a break is repeated once, and then fails as the application wants it", async () => {
  desk.will("hangs up", [200, { id: "0a", created_at: 7 }]);
  assert.equal((await data.write({ content: "blue" })).id, "0a");
  class Theirs extends Error {}
  const theirs = new NightdeskDataStore(options(), (error) => new Theirs(error.name));
  desk.will("hangs up", "hangs up");
  await assert.rejects(theirs.get("0a"), (error) => error instanceof Theirs && error.message === "ConnectorError");
});
