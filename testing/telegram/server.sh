#!/usr/bin/env bash
# Runs our adapter with a third-party fake Telegram. See README.md.
#
# The fake goes into its own folder, which is created once.

set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
repo=$(cd "$here/../.." && pwd)
version=4.2.1
cache=${XDG_CACHE_HOME:-$HOME/.cache}/nightdesk
folder=$cache/telegram-test-api-$version

mkdir -p "$folder"
(
    flock 9
    [ -e "$folder/complete" ] || {
        npm install --silent --no-fund --no-audit --prefix "$folder" "telegram-test-api@$version"
        touch "$folder/complete"
    }
) 9>"$folder.lock"

export TELEGRAM_ECHO_BIN=${TELEGRAM_ECHO_BIN:-${CARGO_TARGET_DIR:-$repo/target}/debug/examples/telegram-echo}
NODE_PATH=$folder/node_modules exec node "$here/server.js" "$@"
