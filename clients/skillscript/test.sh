#!/usr/bin/env bash
# Installs the client's dependencies, builds and tests it. The last line has the number of passed tests.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

npm ci --no-audit --no-fund >/dev/null
said=$(npm test 2>&1) || {
    echo "$said"
    exit 1
}
count() { sed -n "s/^# $1 //p" <<<"$said"; }
echo "skillscript: tests=$(count tests) passed=$(count pass) failed=$(count fail)"
[ "$(count tests)" -gt 0 ]
