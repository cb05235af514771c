#!/usr/bin/env bash
# Tests the stock Hermes client's cron with the desk. See README.md; `fires.sh --help` lists the options.

set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/client.sh"
drive fires.run "$@"
