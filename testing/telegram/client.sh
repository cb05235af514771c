#!/usr/bin/env bash
# Checks the fake Telegram with a third-party client. See README.md.
#
# The client goes into a private environment, which is created once.

set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
repo=$(cd "$here/../.." && pwd)
version=22.8
cache=${XDG_CACHE_HOME:-$HOME/.cache}/nightdesk
venv=$cache/python-telegram-bot-venv-$version

# An environment without the file `complete` is unfinished.
install_client() {
    rm -rf "$venv"
    "${PYTHON:-python3}" -m venv "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check "python-telegram-bot==$version"
    touch "$venv/complete"
}

mkdir -p "$cache"
(
    flock 9
    [ -e "$venv/complete" ] || install_client
) 9>"$venv.lock"

export FAKE_TELEGRAM_BIN=${FAKE_TELEGRAM_BIN:-${CARGO_TARGET_DIR:-$repo/target}/debug/examples/fake-telegram}
export PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1
exec "$venv/bin/python" "$here/client.py" "$@"
