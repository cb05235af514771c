import type { webcrypto } from "node:crypto";

import { CallError, VerificationError } from "./errors.js";
import { object } from "./frame.js";
import { parseObject, readBody } from "./http.js";
import * as limits from "./limits.js";
import { deskUrl } from "./login.js";

/**
 * A due job, proven to come from the desk. The id is the same for every attempt of one fire: remember it, so that a fire
 * runs at most once.
 */
export type Fire = { fireId: string; jobId: string; fireAt: string | undefined };

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** The desk signs with ES256 alone. */
const ES256 = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };

/** Verifies the fires that a desk posts to an agent: docs/time.md. */
export class FireVerifier {
  readonly #desk: string;
  readonly #issuer: string;
  readonly #audience: string;
  readonly #now: () => number;
  #keys = new Map<unknown, webcrypto.CryptoKey>();
  #readAt = -Infinity;
  #triedAt = -Infinity;
  #reading: Promise<void> | undefined;

  /** `issuedBy` is the name of the desk, if it differs from the URL at which this agent reaches it. */
  constructor(settings: { url: string; agentId: string; issuedBy?: string }, now: () => number = Date.now) {
    [this.#desk, this.#now] = [deskUrl(settings.url), now];
    this.#issuer = settings.issuedBy ?? this.#desk;
    this.#audience = `agent:${settings.agentId}`;
  }

  /** Reads the request of a fire. Throws `VerificationError` (respond with 401), or `CallError` if the keys cannot be read (503). */
  async read(request: Request): Promise<Fire> {
    const token = request.headers.get("authorization")?.match(/^Bearer ([^ ,]+)$/)?.[1] ?? "";
    const fireId = await this.verify(token);
    const body = await readBody(request.body, limits.FIRE_BYTES_MAX);
    const { job_id, fire_at } = parseObject(body ?? Buffer.alloc(0));
    if (typeof job_id !== "string" || job_id === "") throw new VerificationError("the fire names no job");
    return { fireId, jobId: job_id, fireAt: typeof fire_at === "string" ? fire_at : undefined };
  }

  /** Verifies a token, and returns the id of the fire. */
  async verify(token: string): Promise<string> {
    const isLong = token.length > limits.FIRE_TOKEN_CHARS_MAX;
    const [head, body, signature, ...rest] = isLong ? [] : token.split(".").map(fromBase64Url);
    if (!head || !body || !signature || rest.length > 0) throw new VerificationError("not a token");
    const { alg, kid, crit } = parseObject(head);
    const key = alg === "ES256" && crit === undefined ? await this.#find(kid) : undefined;
    if (!key) throw new VerificationError("the token names no key of the desk");
    const signed = new TextEncoder().encode(token.slice(0, token.lastIndexOf(".")));
    const isSigned = await crypto.subtle.verify(ES256, key, signature, signed);
    if (!isSigned) throw new VerificationError("the key did not sign the token");
    return this.#check(parseObject(body));
  }

  #check(claims: Record<string, unknown>): string {
    const { iss, aud, purpose, exp, nbf = 0, iat = 0, jti, sub = "" } = claims;
    const audiences = [aud].flat();
    const isForUs = iss === this.#issuer && audiences.includes(this.#audience) && purpose === "cron_fire";
    if (!isForUs || ![...audiences, sub].every((text) => typeof text === "string")) {
      throw new VerificationError("the token is of another desk, for another agent or for another purpose");
    }
    const [end, ...begins] = [exp, nbf, iat].map((at) => (Number.isInteger(at) ? Number(at) : NaN)) as [number];
    const [now, leeway] = [Math.floor(this.#now() / 1000), limits.CLOCKS_APART_SECS];
    const isOpen = end > now - leeway && end <= now + leeway + limits.FIRE_LIFE_SECS_MAX;
    if (!isOpen || !begins.every((at) => at <= now + leeway)) {
      throw new VerificationError("the token has expired, or is not valid yet");
    }
    // Only one spelling of a UUID is accepted, so that no fire has two ids.
    if (typeof jti !== "string" || !UUID.test(jti)) throw new VerificationError("the token has no fire's id");
    return jti;
  }

  /** Returns the key of this name. Undefined: the desk has none. */
  async #find(kid: unknown): Promise<webcrypto.CryptoKey | undefined> {
    const [now, known] = [this.#now(), this.#keys.get(kid)];
    const isNew = known !== undefined && now - this.#readAt < limits.KEYS_FRESH;
    if (!isNew && now - this.#triedAt >= limits.KEYS_READ_EVERY) {
      this.#triedAt = now;
      this.#reading = this.#read();
    }
    if (!isNew) await this.#reading;
    const key = this.#keys.get(kid);
    if (now - this.#readAt < (key ? limits.KEYS_STALE : limits.KEYS_FRESH)) return key;
    throw new CallError("read the desk's keys", "the desk did not respond", "no-answer");
  }

  async #read(): Promise<void> {
    try {
      const signal = AbortSignal.timeout(limits.KEYS_WAIT);
      const response = await fetch(`${this.#desk}/oauth/jwks.json`, { signal, redirect: "error" });
      const body = await readBody(response.body, limits.RESPONSE_BYTES_MAX, limits.KEYS_WAIT);
      const { keys } = parseObject(body ?? Buffer.alloc(0));
      if (response.ok && Array.isArray(keys)) [this.#keys, this.#readAt] = [await importKeys(keys), this.#now()];
    } catch {
      // The keys that are known stay in use for a day.
    }
  }
}

/** Imports the keys of a set. Unusable keys are skipped. */
async function importKeys(set: unknown[]): Promise<Map<unknown, webcrypto.CryptoKey>> {
  const keys = new Map<unknown, webcrypto.CryptoKey>();
  for (const { kty, crv, x, y, kid, use = "sig", alg = "ES256" } of set.map(object)) {
    if (typeof kid !== "string" || use !== "sig" || alg !== "ES256") continue;
    const jwk = { kty, crv, x, y } as webcrypto.JsonWebKey;
    const key = await crypto.subtle.importKey("jwk", jwk, ES256, false, ["verify"]).catch(() => undefined);
    if (key) keys.set(kid, key);
  }
  return keys;
}

/** Decodes the only spelling of some bytes. Undefined: it is another one. */
function fromBase64Url(text: string): Buffer<ArrayBuffer> | undefined {
  const bytes = Buffer.from(text, "base64url");
  return bytes.toString("base64url") === text ? bytes : undefined;
}
