#!/usr/bin/env bash
# Proves that a new operator finds and mends a fault by clicks alone, with the binary of NIGHTDESK_BIN. See README.md.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../browser/browser.sh"

NIGHTDESK_BIN=$(realpath "$NIGHTDESK_BIN")
export NIGHTDESK_BIN
cd "$repo"
exec cargo xtask with-servers --fsync --redis -- "$venv/bin/python" testing/office-story/story.py
