#!/usr/bin/env bash
# Looks at our own page through a real browser. See README.md.
#
# PostgreSQL and Redis come from `cargo xtask with-servers`: run under it, or we call it.

set -euo pipefail
# The desk and its database are set up by what drives the stock client.
source "$(dirname "${BASH_SOURCE[0]}")/browser.sh"

export NIGHTDESK_BIN=${NIGHTDESK_BIN:-$repo/target/debug/nightdesk}
run=("$venv/bin/python" -m webchat.run "$@")
if [ -z "${NIGHTDESK_TEST_PG_ADMIN_URL:-}" ]; then
    cd "$repo"
    run=(cargo xtask with-servers --redis -- "${run[@]}")
fi
exec "${run[@]}"
