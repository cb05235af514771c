#!/usr/bin/env bash
# Has whole stock Hermes gateways write to each other through the desk. See README.md; `letters.sh
# --help` has the options.

set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/client.sh"
drive letters.run "$@"
