#!/usr/bin/env bash
# Proves that alerts arrive, with the binary of NIGHTDESK_BIN. See README.md.
set -euo pipefail
repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/nightdesk
aiosmtpd=1.4.6
httpx=0.28.1
websockets=17.4
venv=$cache/alerts-venv-$aiosmtpd

# An environment without the file `complete` is unfinished.
install_packages() {
    rm -rf "$venv"
    "${PYTHON:-python3}" -m venv "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check \
        "aiosmtpd==$aiosmtpd" "httpx==$httpx" "websockets==$websockets"
    touch "$venv/complete"
}

mkdir -p "$cache"
(
    flock 9
    [ -e "$venv/complete" ] || install_packages
) 9>"$venv.lock"

NIGHTDESK_BIN=$(realpath "$NIGHTDESK_BIN")
export NIGHTDESK_BIN
export PYTHONPATH=$repo/testing/hermes:$repo/clients/python/src PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1
cd "$repo"
exec cargo xtask with-servers --fsync --redis -- "$venv/bin/python" testing/alerts/alerts.py
