#!/usr/bin/env bash
# Follows docs/first-agent.md with the binary of NIGHTDESK_BIN. It needs curl, jq, openssl, Node and Python.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../browser/browser.sh"

# The agent in a shell.
command -v jq >/dev/null || as_root apt-get install -qq -y --no-install-recommends jq

NIGHTDESK_BIN=$(realpath "$NIGHTDESK_BIN")
export NIGHTDESK_BIN
exec "$venv/bin/python" "$repo/testing/first-agent/first_agent.py"
