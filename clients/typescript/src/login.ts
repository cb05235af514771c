import { createHmac, timingSafeEqual } from "node:crypto";

/** The credentials of an agent: its gateway, or a token for the agent that the caller renews. */
export type Login = { gateway: string; secret: string } | { token: string | (() => string | Promise<string>) };

/** Life of an upgrade token. */
const LIFE_SECS = 300;

/** Makes the token of a gateway: docs/protocol.md section 1. */
export function upgradeToken(gateway: string, secret: string, nowMs: number, lifeSecs = LIFE_SECS): string {
  const signed = `${gateway}:${Math.floor(nowMs / 1000) + lifeSecs}`;
  const signature = hmacSha256(secret, signed).toString("hex");
  return Buffer.from(`${signed}:${signature}`).toString("base64url");
}

/** Returns a token for the next dial or call. */
export async function bearer(login: Login, nowMs = Date.now()): Promise<string> {
  if ("gateway" in login) return upgradeToken(login.gateway, login.secret, nowMs);
  return typeof login.token === "string" ? login.token : await login.token();
}

/** Throws if no desk can accept the credentials. */
export function checkLogin(login: Login): void {
  if ("gateway" in login && !/^[A-Za-z0-9_.-]{1,64}$/.test(login.gateway)) {
    throw new TypeError("not the name of a gateway; use the one that the desk printed, [A-Za-z0-9_.-]{1,64}");
  }
  const shown = "gateway" in login ? login.secret : login.token;
  if (shown === "") throw new TypeError("the secret or token is empty; use the one that the desk printed");
}

/** Returns the desk's address without a trailing slash. */
export function deskUrl(base: string): string {
  const trimmed = base.trim().replace(/\/+$/, "");
  const url = URL.canParse(trimmed) ? new URL(trimmed) : undefined;
  if (!url || !/^(https?|wss?):$/.test(url.protocol) || /[?#@]/.test(trimmed)) {
    throw new TypeError("not the URL of a desk; write it like https://desk.example, without query or user");
  }
  return trimmed.replace(/^ws/i, "http").replace(/\/relay$/, "");
}

/** Returns the address of the line. */
export function lineUrl(base: string): string {
  return `${deskUrl(base).replace(/^http/i, "ws")}/relay`;
}

/** Signs a text. */
export function hmacSha256(key: string | Uint8Array, text: string): Buffer {
  return createHmac("sha256", key).update(text).digest();
}

/** Compares without telling where two texts differ. */
export function isSameText(a: string, b: string): boolean {
  const [one, two] = [Buffer.from(a), Buffer.from(b)];
  return one.length === two.length && timingSafeEqual(one, two);
}
