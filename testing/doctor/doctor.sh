#!/usr/bin/env bash
# Proves `nightdesk doctor` on the binary of NIGHTDESK_BIN. See README.md.
set -euo pipefail
repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

NIGHTDESK_BIN=$(realpath "$NIGHTDESK_BIN")
export NIGHTDESK_BIN
export PYTHONPATH=$repo/testing/hermes PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1
cd "$repo"
exec cargo xtask with-servers --redis -- "${PYTHON:-python3}" testing/doctor/doctor.py
