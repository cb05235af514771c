#!/usr/bin/env bash
# Checks the fake Discord with a third-party client. See README.md.
#
# The client goes into a private environment, which is created once. It requests a zlib stream, or a zstd stream if it
# finds a library for it, so a few checks run with zstd first.

set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
repo=$(cd "$here/../.." && pwd)
version=2.7.1
zstandard=0.25.0
cache=${XDG_CACHE_HOME:-$HOME/.cache}/nightdesk
venv=$cache/discord.py-venv-$version

# An environment without the file `complete` is unfinished.
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
