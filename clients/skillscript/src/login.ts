import { createHmac } from "node:crypto";

/** Credentials: the gateway that the agent dials in as, or an access token. */
export type Login =
  | { gateway: string; secret: string }
  | { token: string | (() => string | Promise<string>) };

/** Lifetime of a gateway's bearer token. */
const TOKEN_SECS = 300;

/** Returns the bearer token. */
export async function proof(login: Login, now: () => number = Date.now): Promise<string> {
  if ("token" in login) {
    return typeof login.token === "string" ? login.token : await login.token();
  }
  const signed = `${login.gateway}:${Math.floor(now() / 1000) + TOKEN_SECS}`;
  const signature = createHmac("sha256", login.secret).update(signed).digest("hex");
  return Buffer.from(`${signed}:${signature}`).toString("base64url");
}

/** Returns true if the credentials are complete. */
export function isWhole(login: Login): boolean {
  return "token" in login ? login.token !== "" : login.gateway !== "" && login.secret !== "";
}
