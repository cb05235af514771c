#!/usr/bin/env bash
# Calls the desk's tools with a third-party client. See README.md.
#
# The client goes into a private environment, which is created once. PostgreSQL and Redis come from `cargo xtask
# with-servers`; the script calls it unless it already runs under it.

set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
repo=$(cd "$here/../.." && pwd)
version=2.3.0
# For the recipient agent: the WebSocket library of stock Hermes.
websockets=15.0.1
cache=${XDG_CACHE_HOME:-$HOME/.cache}/nightdesk
venv=$cache/mcp-venv-$version

# An environment without the file `complete` is unfinished.
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
    run=(cargo xtask with-servers --fsync --redis -- "${run[@]}")
fi
exec "${run[@]}"
