#!/usr/bin/env bash
# Runs both sides, and prints the passed checks of both in one line.

set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# Runs a side, shows its output, and returns its last line.
side() {
    "$here/$1.sh" | tee >(cat >&2) | tail -n 1
}

of() {
    sed -n "s/.* $1=\([0-9.]*\).*/\1/p" <<< "$2"
}

failed=0
client=$(side client) || failed=1
server=$(side server) || failed=1
echo "telegram-others: client=$(of version "$client") client_checks=$(of passed "$client")/$(of checks "$client")" \
    "server=$(of version "$server") server_checks=$(of passed "$server")/$(of checks "$server")"
exit "$failed"
