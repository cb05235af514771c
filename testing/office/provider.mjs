// A certified OpenID provider with three accounts, of which each password is accepted. It prints one line when it listens.
//
// usage: node provider.mjs PORT REDIRECT_URI CLIENT_SECRET

import Provider from "oidc-provider";

const [port, redirect, secret] = process.argv.slice(2);

const accounts = {
  ada: { name: "Ada", email: "ada@example.org", email_verified: true, groups: ["desk-operators"] },
  bob: { name: "Bob", email: "bob@example.org", email_verified: true, groups: ["night-members"] },
  eve: { name: "Eve", email: "eve@example.org", email_verified: false, groups: [] },
};

const provider = new Provider(`http://127.0.0.1:${port}`, {
  clients: [{ client_id: "nightdesk", client_secret: secret, redirect_uris: [redirect] }],
  claims: { openid: ["sub"], profile: ["name"], email: ["email", "email_verified"], groups: ["groups"] },
  // The desk reads claims of the ID token only.
  conformIdTokenClaims: false,
  cookies: { keys: ["only for this proof"] },
  findAccount: (_, id) => accounts[id] && { accountId: id, claims: () => ({ sub: id, ...accounts[id] }) },
});

provider.listen(Number(port), "127.0.0.1", () => console.log("ready"));
