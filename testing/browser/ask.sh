#!/usr/bin/env bash
# Sends a message on a web chat page in a real browser, and waits for the answer.
#
# usage: ask.sh URL

set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/browser.sh"

exec "$venv/bin/python" -m webchat.ask "$1"
