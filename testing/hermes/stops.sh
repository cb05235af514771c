#!/usr/bin/env bash
# Stops running turns of every kind of client, from every origin. See README.md. The last line has the figures.

set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/client.sh"

# The clients that do not depend on the release of Hermes run beside the newest one.
results=$(mktemp)
trap 'rm -f "$results"' EXIT
for version in $(clients '" ".join(c["version"] for c in clients)'); do
    NIGHTDESK_STOP_RESULTS=$results bash -c 'source "$0"; drive stops.run "$@"' "$here/client.sh" --client "$version" "$@"
done
"$python" "$here/stops/figures.py" "$results"
