#!/usr/bin/env bash
# Holds the fake Discord to its word with a client that is not ours. See README.md.
#
# The client goes into a private environment, made once and used again. It asks for a stream of zlib, or of
# zstd where it finds a library for that: so a few checks run with it first.

set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
repo=$(cd "$here/../.." && pwd)
version=2.7.1
zstandard=0.25.0
cache=${XDG_CACHE_HOME:-$HOME/.cache}/nightdesk
venv=$cache/discord.py-venv-$version

# An environment without the mark was never finished.
install_client() {
    rm -rf "$venv"
    "${PYTHON:-python3}" -m venv "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check "discord.py==$version"
    "$venv/bin/pip" install --quiet --disable-pip-version-check --target "$venv/zstd" "zstandard==$zstandard"
    touch "$venv/complete"
}

mkdir -p "$cache"
(
    flock 9
    [ -e "$venv/complete" ] || install_client
) 9>"$venv.lock"

export FAKE_DISCORD_BIN=${FAKE_DISCORD_BIN:-${CARGO_TARGET_DIR:-$repo/target}/debug/examples/fake-discord}
export PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1
if [ $# -eq 0 ]; then
    PYTHONPATH=$venv/zstd "$venv/bin/python" "$here/client.py" hears_guilds_and_people resumes_a_cut_socket
fi
exec "$venv/bin/python" "$here/client.py" "$@"
