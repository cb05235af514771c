#!/usr/bin/env bash
# Drives the stock Hermes client against the desk. See README.md; `line.sh --help` has the options.
#
# The client goes into a private environment, made once and used again. PostgreSQL comes from
# `cargo xtask with-servers`: run under it, or we call it ourselves.

set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
repo=$(cd "$here/../.." && pwd)
version=0.19.0
cache=${XDG_CACHE_HOME:-$HOME/.cache}/nightdesk
venv=$cache/hermes-venv-$version

# An environment without the mark was never finished.
install_client() {
    rm -rf "$venv"
    "${PYTHON:-python3}" -m venv "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check "hermes-agent==$version"
    touch "$venv/complete"
}

mkdir -p "$cache"
(
    flock 9
    [ -e "$venv/complete" ] && "$venv/bin/python" -c 'import gateway.relay.adapter' 2>/dev/null ||
        install_client
) 9>"$venv.lock"

export NIGHTDESK_BIN=${NIGHTDESK_BIN:-$repo/target/debug/nightdesk}
export PYTHONPATH=$here PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1
run=("$venv/bin/python" -m line.run "$@")
if [ -z "${NIGHTDESK_TEST_PG_ADMIN_URL:-}" ] && [[ ! " $* " =~ \ (--list|--help)\  ]]; then
    cd "$repo"
    run=(cargo xtask with-servers -- "${run[@]}")
fi
exec "${run[@]}"
