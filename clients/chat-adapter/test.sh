#!/usr/bin/env bash
# Builds the SDK that the adapter uses, then installs, checks and tests the adapter, also with the Chat SDK's own tests of
# adapters. With NIGHTDESK_BIN, the name of a `nightdesk` binary, it also runs against a real desk. The last line has the
# number of tests.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

(cd ../typescript && npm ci --no-audit --no-fund >/dev/null && rm -rf dist && npx tsc)
npm ci --no-audit --no-fund >/dev/null
npx prettier --check --log-level warn .
npx eslint .
npx tsc --noEmit
said=$(mktemp)
trap 'rm -f "$said"' EXIT
npx vitest run --reporter=default --reporter=json --outputFile.json="$said" || exit 1
count() { node -p "JSON.parse(fs.readFileSync('$said'))['$1']"; }
echo "clients-chat-adapter: tests=$(count numTotalTests) passed=$(count numPassedTests)"
[ "$(count numPassedTests)" -gt 0 ]
