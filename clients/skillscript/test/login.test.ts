import assert from "node:assert/strict";
import { test } from "node:test";

import { proof } from "../src/login.js";

test("a gateway shows what the desk's own vectors have", async () => {
  const login = { gateway: "gw-host1", secret: "s3cr3t-0123456789abcdef" };
  const want =
    "Z3ctaG9zdDE6MTgwMDAwMDMwMDoyZTg0MzAyMjQ2OWZkMzgyNWE5N2Q5OTBmNGU5MWNlNzdiN2ZmODMyM2M3OThhZjUyNmMwOTIxMjY3NjFlOWJh";
  assert.equal(await proof(login, () => 1_800_000_000_999), want);
});

test("a token is shown as it is, or asked for each time", async () => {
  let count = 0;
  const token = async () => `token-${++count}`;
  assert.equal(await proof({ token: "as it is" }), "as it is");
  assert.deepEqual([await proof({ token }), await proof({ token })], ["token-1", "token-2"]);
});
