#!/usr/bin/env bash
# Drives the stock Hermes client's transport against the desk. See README.md; `line.sh --help` has
# the options.

set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/client.sh"
drive line.run "$@"
