#!/usr/bin/env bash
# Writes to a page in a real browser, and waits for an answer.
#
# usage: ask.sh URL

set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/browser.sh"

exec "$venv/bin/python" -m webchat.ask "$1"
