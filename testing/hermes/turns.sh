#!/usr/bin/env bash
# Tests the whole stock Hermes gateway with the desk. See README.md; `turns.sh --help` lists the options.

set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/client.sh"
drive turns.run "$@"
