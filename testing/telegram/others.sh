#!/usr/bin/env bash
# Runs both sides, and says of both in one line how many checks were passed.

set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# Shows what a side says. Its last line is kept.
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
