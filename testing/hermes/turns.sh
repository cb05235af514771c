#!/usr/bin/env bash
# Drives the whole stock Hermes gateway against the desk. See README.md; `turns.sh --help` has the
# options.

set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/client.sh"
drive turns.run "$@"
