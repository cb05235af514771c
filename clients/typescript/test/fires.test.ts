import assert from "node:assert/strict";
import { type webcrypto } from "node:crypto";
import { type TestContext, test } from "node:test";

import { CallError, FireVerifier, VerificationError } from "../src/index.js";
import { FakeHttp } from "./fake-http.js";

const NOW = 1_795_003_200;
const FIRE = "0192f0c1-7f7e-7000-8000-00000000000a";
const ALGORITHM = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
const HEADER = { alg: "ES256", typ: "JWT", kid: "desk-1" };
const ISSUER = "https://desk.example";
const CLAIMS = { iss: ISSUER, aud: "agent:a1", purpose: "cron_fire", jti: FIRE, iat: NOW, nbf: NOW, exp: NOW + 90 };

type Json = Record<string, unknown>;

async function pair(): Promise<webcrypto.CryptoKeyPair> {
  return crypto.subtle.generateKey(ALGORITHM, true, ["sign", "verify"]);
}

const keys = await pair();
const hidden = await pair();
const jwk = { ...(await crypto.subtle.exportKey("jwk", keys.publicKey)), kid: "desk-1", use: "sig", alg: "ES256" };
// The desk's set has no `key_ops` and no `ext`.
const PUBLIC = { kty: jwk.kty, crv: jwk.crv, x: jwk.x, y: jwk.y, kid: jwk.kid, use: jwk.use, alg: jwk.alg };

async function sign(header: Json | string, claims: Json | string, key = keys.privateKey): Promise<string> {
  const encode = (part: Json | string) =>
    Buffer.from(typeof part === "string" ? part : JSON.stringify(part)).toString("base64url");
  const signed = `${encode(header)}.${encode(claims)}`;
  const signature = await crypto.subtle.sign(ALGORITHM, key, new TextEncoder().encode(signed));
  return `${signed}.${Buffer.from(signature).toString("base64url")}`;
}

/** Returns an object with changes; undefined removes a field. */
function but(whole: Json, changes: Json): Json {
  return JSON.parse(JSON.stringify({ ...whole, ...changes })) as Json;
}

async function verifier(t: TestContext, set: unknown[] = [PUBLIC]) {
  const fake = await FakeHttp.open(t);
  fake.will([200, { keys: set }]);
  const clock = { now: NOW * 1000 };
  const fires = new FireVerifier({ url: fake.url, agentId: "a1", issuedBy: ISSUER }, () => clock.now);
  return { fake, fires, clock };
}

test("accepts what the desk signed for this agent, and nothing else", async (t) => {
  const { fires } = await verifier(t, [
    PUBLIC,
    { ...PUBLIC, kid: "for-sealing", use: "enc" },
    { kty: "RSA", kid: "r" },
    7,
  ]);
  const good = await sign(HEADER, CLAIMS);
  const [head, body, signature] = good.split(".") as [string, string, string];
  const other = (await sign(HEADER, { ...CLAIMS, iat: NOW - 1 })).split(".")[1] ?? "";
  const headed = (changes: Json) => sign(but(HEADER, changes), CLAIMS);
  const saying = (changes: Json) => sign(HEADER, but(CLAIMS, changes));
  const cases: [string, Promise<string> | string, boolean][] = [
    ["good", good, true],
    ["another key under the same name", sign(HEADER, CLAIMS, hidden.privateKey), false],
    ["a key nobody has", headed({ kid: "desk-2" }), false],
    ["no key", headed({ kid: undefined }), false],
    ["a key that is for sealing", headed({ kid: "for-sealing" }), false],
    ["RS256 over a key for ES256", headed({ alg: "RS256" }), false],
    ["no algorithm", headed({ alg: "none" }), false],
    ["ES256 in small letters", headed({ alg: "es256" }), false],
    ["a word that must be understood", headed({ crit: ["other"] }), false],
    ["no type", headed({ typ: undefined }), true],
    ["a list of audiences with ours", saying({ aud: ["agent:other", "agent:a1"] }), true],
    ["a list without ours", saying({ aud: ["agent:other"] }), false],
    ["an empty list", saying({ aud: [] }), false],
    ["a number among audiences", saying({ aud: ["agent:a1", 7] }), false],
    ["another audience", saying({ aud: "agent:other" }), false],
    ["no audience", saying({ aud: undefined }), false],
    ["an issuer with a slash", saying({ iss: `${ISSUER}/` }), false],
    ["a list of issuers", saying({ iss: [ISSUER] }), false],
    ["no issuer", saying({ iss: undefined }), false],
    ["no purpose", saying({ purpose: undefined }), false],
    ["another purpose", saying({ purpose: "cron_fire " }), false],
    ["several purposes", saying({ purpose: ["cron_fire"] }), false],
    ["a number for a subject", saying({ sub: 7 }), false],
    ["just about good", saying({ exp: NOW - 29 }), true],
    ["run out", saying({ exp: NOW - 30 }), false],
    ["good for ten minutes", saying({ exp: NOW + 630 }), true],
    ["good for longer", saying({ exp: NOW + 631 }), false],
    ["without an end", saying({ exp: undefined }), false],
    ["an end as text", saying({ exp: String(NOW + 60) }), false],
    ["a clock that is ahead", saying({ nbf: NOW + 30, iat: NOW + 30 }), true],
    ["good later", saying({ nbf: NOW + 31 }), false],
    ["made later", saying({ iat: NOW + 31 }), false],
    ["a beginning of null", saying({ nbf: null }), false],
    ["no beginning", saying({ nbf: undefined, iat: undefined }), true],
    ["no id", saying({ jti: undefined }), false],
    ["an id that is no UUID", saying({ jti: "fire-1" }), false],
    ["an id in capitals", saying({ jti: FIRE.toUpperCase() }), false],
    ["a word more", saying({ scope: "anything" }), true],
    ["nothing", "", false],
    ["noise", "noise", false],
    ["two parts", `${head}.${body}`, false],
    ["no signature", `${head}.${body}.`, false],
    ["four parts", `${good}.${signature}`, false],
    ["another's signature", `${head}.${other}.${signature}`, false],
    ["a shorter signature", `${head}.${body}.${signature.slice(0, 84)}`, false],
    // The last character has four bits that mean nothing.
    [
      "another spelling of the signature",
      `${good.slice(0, -1)}${String.fromCharCode(good.charCodeAt(good.length - 1) + 1)}`,
      false,
    ],
    ["a list of claims", sign(HEADER, "[]"), false],
    ["half of the claims", sign(HEADER, '{"iss":'), false],
    ["too long", saying({ more: "x".repeat(16 * 1024) }), false],
  ];
  for (const [name, token, isGood] of cases) {
    const judged = await fires.verify(await token).catch((error: unknown) => error);
    if (isGood) assert.equal(judged, FIRE, name);
    else assert(judged instanceof VerificationError, name);
  }
});

test("reads a request, and refuses one without a token or a job", async (t) => {
  const { fires } = await verifier(t);
  const token = await sign(HEADER, CLAIMS);
  const request = (authorization: string, body: string) =>
    new Request("http://agent/api/cron/fire", { method: "POST", headers: { authorization }, body });
  const fire_at = "2026-11-18T08:00:00+00:00";

  const fire = await fires.read(request(`Bearer ${token}`, JSON.stringify({ job_id: "report", fire_at })));
  assert.deepEqual(fire, { fireId: FIRE, jobId: "report", fireAt: fire_at });
  const refused: [string, string, string][] = [
    ["no token", "", "{}"],
    ["two tokens", `Bearer ${token}, Bearer ${token}`, '{"job_id":"report"}'],
    ["no job", `Bearer ${token}`, "{}"],
    ["too long", `Bearer ${token}`, JSON.stringify({ job_id: "x".repeat(4_096) })],
  ];
  for (const [name, authorization, body] of refused) {
    await assert.rejects(fires.read(request(authorization, body)), VerificationError, name);
  }
});

test("reads the keys again for a new name, but not all the time, and uses them on for a day", async (t) => {
  const { fake, fires, clock } = await verifier(t);
  const verify = (kid = "desk-1") =>
    sign({ ...HEADER, kid }, { ...CLAIMS, iat: 1, nbf: 1, exp: Math.floor(clock.now / 1000) + 60 }).then((token) =>
      fires.verify(token),
    );
  await Promise.all([verify(), verify()]);
  await assert.rejects(verify("desk-2"), VerificationError, "just looked");
  assert.deepEqual(fake.calls(), [["GET", "/oauth/jwks.json"]], "one read for all");

  clock.now += 10_000;
  fake.will([200, { keys: [PUBLIC, { ...PUBLIC, kid: "desk-2" }] }]);
  assert.equal(await verify("desk-2"), FIRE);
  assert.equal(fake.calls().length, 1);

  clock.now += 300_000;
  fake.will([500], "hangs up", [200, { keys: 7 }]);
  assert.equal(await verify(), FIRE, "an old key while the desk is down");
  clock.now += 10_000;
  await assert.rejects(verify("desk-3"), CallError, "it may have come since");
  clock.now += 24 * 60 * 60_000;
  await assert.rejects(verify(), CallError);
});

test("a desk whose keys were never read defers its fires", async (t) => {
  const { fake, fires } = await verifier(t);
  fake.will("hangs up");
  const other = new FireVerifier({ url: "http://127.0.0.1:9", agentId: "a1" });
  await assert.rejects(other.verify(await sign(HEADER, CLAIMS)), CallError);
  assert.equal(await fires.verify(await sign(HEADER, CLAIMS)), FIRE);
});
