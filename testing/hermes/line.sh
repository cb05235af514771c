#!/usr/bin/env bash
# Tests the stock Hermes client's transport with the desk. See README.md; `line.sh --help` lists the options.

set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/client.sh"
drive line.run "$@"
