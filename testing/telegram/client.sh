#!/usr/bin/env bash
# Holds the fake Telegram to its word with a client that is not ours. See README.md.
#
# The client goes into a private environment, made once and used again.

set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
repo=$(cd "$here/../.." && pwd)
version=22.8
cache=${XDG_CACHE_HOME:-$HOME/.cache}/nightdesk
venv=$cache/python-telegram-bot-venv-$version

# An environment without the mark was never finished.
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
