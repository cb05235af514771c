#!/usr/bin/env bash
# Looks at every page of the dashboard in a real browser, with the binary of NIGHTDESK_BIN. See README.md.
#
# usage: office-look.sh FOLDER
#
# Screenshots go to FOLDER.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../browser/browser.sh"

mkdir -p "$1"
shots=$(realpath "$1")
look=$repo/testing/office-look
(cd "$look" && npm ci --no-audit --no-fund >/dev/null)
NIGHTDESK_BIN=$(realpath "$NIGHTDESK_BIN")
export NIGHTDESK_BIN
cd "$repo"
exec cargo xtask with-servers --fsync --redis -- "$venv/bin/python" "$look/look.py" "$shots"
