#!/usr/bin/env bash
# Proves logins at a certified provider and refusals of a hostile one, with the binary of NIGHTDESK_BIN. See README.md.
#
# usage: office.sh CASES
#
# CASES is the file to which the tests of routes wrote their figures.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../browser/browser.sh"

cases=$(realpath "$1")
office=$repo/testing/office
(cd "$office" && npm ci --no-audit --no-fund >/dev/null)
NIGHTDESK_BIN=$(realpath "$NIGHTDESK_BIN")
export NIGHTDESK_BIN
cd "$repo"
exec cargo xtask with-servers --fsync --redis -- "$venv/bin/python" "$office/office.py" "$cases"
