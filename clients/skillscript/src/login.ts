import { createHmac } from "node:crypto";

/** By what right we call: the gateway that the agent dials in as, or an access token. */
export type Login =
  | { gateway: string; secret: string }
  | { token: string | (() => string | Promise<string>) };

/** For how long what a gateway shows is good. */
const TOKEN_SECS = 300;

/** What is shown as a bearer. */
export async function proof(login: Login, now: () => number = Date.now): Promise<string> {
  if ("token" in login) {
    return typeof login.token === "string" ? login.token : await login.token();
  }
  const signed = `${login.gateway}:${Math.floor(now() / 1000) + TOKEN_SECS}`;
  const signature = createHmac("sha256", login.secret).update(signed).digest("hex");
  return Buffer.from(`${signed}:${signature}`).toString("base64url");
}

/** Whether there is anything to show. */
export function isWhole(login: Login): boolean {
  return "token" in login ? login.token !== "" : login.gateway !== "" && login.secret !== "";
}
