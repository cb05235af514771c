// A hostile OpenID provider: the code of a login names what is wrong with its token. It prints its cases as JSON when it
// listens.
//
// usage: node hostile.mjs PORT

import { createServer } from "node:http";

import { CompactSign, SignJWT, UnsecuredJWT, exportJWK, generateKeyPair } from "jose";

const port = Number(process.argv[2]);
const issuer = `http://127.0.0.1:${port}`;
const [own, foreign] = await Promise.all([generateKeyPair("ES256"), generateKeyPair("ES256")]);
const jwk = { ...(await exportJWK(own.publicKey)), kid: "own", alg: "ES256", use: "sig" };
const now = () => Math.floor(Date.now() / 1000);

function claims(nonce, changes = {}) {
  const all = {
    iss: issuer,
    aud: "nightdesk",
    sub: "mallory",
    name: "Mallory",
    groups: ["desk-operators"],
    nonce,
    iat: now(),
    exp: now() + 300,
    ...changes,
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
}

const sign = (payload, { header = {}, key = own.privateKey } = {}) =>
  new SignJWT(payload).setProtectedHeader({ alg: "ES256", kid: "own", ...header }).sign(key);

const changed = (changes) => (nonce) => sign(claims(nonce, changes));

// The public key as the secret of an HMAC.
const hmac = (nonce) =>
  new SignJWT(claims(nonce))
    .setProtectedHeader({ alg: "HS256", kid: "own" })
    .sign(new TextEncoder().encode(JSON.stringify(jwk)));

const token = {
  good: changed({}),
  "foreign-issuer": changed({ iss: "https://login.example.org" }),
  "issuer-with-slash": changed({ iss: `${issuer}/` }),
  "foreign-audience": changed({ aud: "another-desk" }),
  "no-audience": changed({ aud: undefined }),
  "several-audiences-for-another-party": changed({ aud: ["nightdesk", "another-desk"], azp: "another-desk" }),
  "several-audiences-for-no-party": changed({ aud: ["nightdesk", "another-desk"] }),
  "foreign-nonce": changed({ nonce: "of-another-login" }),
  "no-nonce": changed({ nonce: undefined }),
  "no-subject": changed({ sub: undefined }),
  "empty-subject": changed({ sub: "" }),
  "subject-is-a-number": changed({ sub: 7 }),
  expired: (nonce) => sign(claims(nonce, { iat: now() - 7200, exp: now() - 3600 })),
  "no-end": changed({ exp: undefined }),
  "from-the-future": (nonce) => sign(claims(nonce, { iat: now() + 7200, exp: now() + 10800 })),
  "end-is-a-text": changed({ exp: "never" }),
  "no-signature": (nonce) => new UnsecuredJWT(claims(nonce)).encode(),
  "signed-with-the-public-key": hmac,
  "foreign-key": (nonce) => sign(claims(nonce), { key: foreign.privateKey }),
  "unknown-key": (nonce) => sign(claims(nonce), { header: { kid: "other" } }),
  "no-key-named": (nonce) => sign(claims(nonce), { header: { kid: undefined } }),
  "an-access-token": (nonce) => sign(claims(nonce), { header: { typ: "at+jwt" } }),
  "critical-header": (nonce) =>
    new CompactSign(new TextEncoder().encode(JSON.stringify(claims(nonce))))
      .setProtectedHeader({ alg: "ES256", kid: "own", crit: ["b64"], b64: true })
      .sign(own.privateKey),
  "changed-payload": async (nonce) => {
    const [header, , signature] = (await sign(claims(nonce, { sub: "nobody" }))).split(".");
    return [header, Buffer.from(JSON.stringify(claims(nonce))).toString("base64url"), signature].join(".");
  },
  "no-token": () => undefined,
  "not-a-token": () => "a.b.c",
  "good-after-others": changed({}),
};

const endpoints = ["refused-code", "failing-endpoint", "redirecting-endpoint", "endless-answer"];

const json = (response, status, body) => {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
};

async function exchange(request, response) {
  let body = "";
  for await (const chunk of request) body += chunk;
  const [name, nonce] = new URLSearchParams(body).get("code").split("~");
  if (!Object.hasOwn(token, name) && !endpoints.includes(name)) return json(response, 400, { error: "invalid_grant" });
  if (name === "refused-code") return json(response, 400, { error: "invalid_grant" });
  if (name === "failing-endpoint") return json(response, 500, {});
  if (name === "redirecting-endpoint") return response.writeHead(307, { location: "/token" }).end();
  if (name === "endless-answer") return json(response, 200, { id_token: "x".repeat(1 << 20) });
  return json(response, 200, { access_token: "x", token_type: "Bearer", id_token: await token[name](nonce) });
}

const server = createServer(async (request, response) => {
  const url = new URL(request.url, issuer);
  if (url.pathname === "/.well-known/openid-configuration") {
    return json(response, 200, {
      issuer,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      jwks_uri: `${issuer}/jwks`,
    });
  }
  if (url.pathname === "/jwks") return json(response, 200, { keys: [jwk] });
  if (url.pathname === "/token") return exchange(request, response);
  return response.writeHead(404).end();
});

server.listen(port, "127.0.0.1", () => console.log(JSON.stringify([...Object.keys(token), ...endpoints])));
