#!/usr/bin/env bash
# Has a client of others use the desk's tools. See README.md.
#
# The client goes into a private environment, made once and used again. PostgreSQL and Redis come
# from `cargo xtask with-servers`: run under it, or we call it ourselves.

set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
repo=$(cd "$here/../.." && pwd)
version=2.3.0
# For the agent that is written to: what stock Hermes dials in with.
websockets=15.0.1
cache=${XDG_CACHE_HOME:-$HOME/.cache}/nightdesk
venv=$cache/mcp-venv-$version

# An environment without the mark was never finished.
install_client() {
    rm -rf "$venv"
    "${PYTHON:-python3}" -m venv "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check \
        "mcp==$version" "websockets==$websockets"
    touch "$venv/complete"
}

mkdir -p "$cache"
(
    flock 9
    [ -e "$venv/complete" ] || install_client
) 9>"$venv.lock"

export NIGHTDESK_BIN=${NIGHTDESK_BIN:-$repo/target/debug/nightdesk}
export PYTHONPATH=$here:$repo/testing/hermes PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1
run=("$venv/bin/python" -m proof.run "$@")
if [ -z "${NIGHTDESK_TEST_PG_ADMIN_URL:-}" ]; then
    cd "$repo"
    run=(cargo xtask with-servers --redis -- "${run[@]}")
fi
exec "${run[@]}"
