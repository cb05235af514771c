import type { Login } from "./login.js";

/** Address and credentials of the desk. */
export interface Options {
  /** Public URL of the desk. */
  url: string;
  /** Credentials for the desk's API. */
  login: Login;
  /** Timeout of a request that does not wait for a reply. */
  timeout_ms?: number;
}

/** Reads `NIGHTDESK_URL`, and `NIGHTDESK_TOKEN` or `NIGHTDESK_GATEWAY` with `NIGHTDESK_SECRET`. */
export function optionsFromEnv(env: Record<string, string | undefined>): Options {
  const { NIGHTDESK_URL: url, NIGHTDESK_TOKEN: token, NIGHTDESK_GATEWAY, NIGHTDESK_SECRET } = env;
  if (url === undefined) {
    throw new TypeError("set NIGHTDESK_URL to the desk's public URL");
  }
  const login = token ? { token } : { gateway: NIGHTDESK_GATEWAY ?? "", secret: NIGHTDESK_SECRET ?? "" };
  return { url, login };
}
