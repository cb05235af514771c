#!/usr/bin/env bash
# Checks the web chat page in a real browser. See README.md.
#
# PostgreSQL and Redis come from `cargo xtask with-servers`; the script calls it unless it already runs under it.

set -euo pipefail
# The modules of the stock client's suites set up the desk and its database.
source "$(dirname "${BASH_SOURCE[0]}")/browser.sh"

export NIGHTDESK_BIN=${NIGHTDESK_BIN:-$repo/target/debug/nightdesk}
run=("$venv/bin/python" -m webchat.run "$@")
if [ -z "${NIGHTDESK_TEST_PG_ADMIN_URL:-}" ]; then
    cd "$repo"
    run=(cargo xtask with-servers --fsync --redis -- "${run[@]}")
fi
exec "${run[@]}"
