#!/usr/bin/env bash
# Installs the client's dependencies, checks, builds and tests it. With NIGHTDESK_BIN, the name of a `nightdesk` binary, it
# also runs against a real desk. The last line has the number of tests and of product lines, without comments.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

npm ci --no-audit --no-fund >/dev/null
npx prettier --check --log-level warn .
npx eslint .
npx tsc --noEmit
rm -rf dist
npx tsc
said=$(node --test --test-reporter=tap --test-timeout=300000 dist/test/*.test.js 2>&1) || {
    echo "$said"
    exit 1
}
count() { sed -n "s/^# $1 //p" <<<"$said"; }
lines=$(cat src/*.ts | grep -vcE '^\s*($|//|/\*|\*)')
echo "clients-typescript: tests=$(count tests) passed=$(count pass) lines=$lines"
[ "$(count tests)" -gt 0 ]
