#!/usr/bin/env bash
# Tests letters between whole stock Hermes gateways. See README.md; `letters.sh --help` lists the options.

set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/client.sh"
drive letters.run "$@"
