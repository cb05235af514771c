#!/usr/bin/env bash
# Drives the stock Hermes client's cron against the desk. See README.md; `fires.sh --help` has the
# options.

set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/client.sh"
drive fires.run "$@"
