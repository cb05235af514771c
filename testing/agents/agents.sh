#!/usr/bin/env bash
# Runs sound agents and planted faults through `nightdesk conformance agent`. See README.md.
#
# NIGHTDESK_BIN names the desk, RUST_ECHO the example `steady_echo` of the SDK for Rust. The environments of Python and
# Node are those of the clients' own tests.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
repo=$(cd "$here/../.." && pwd)
tools=${NIGHTDESK_TOOLS:-$HOME/.cache/nightdesk/tools}
mkdir -p "$tools"

# environment FOLDER REQUIREMENTS...: creates a Python environment once; a file in it names its packages.
environment() {
    local folder=$1
    (
        flock 9
        [ "$(cat "$folder/made-of" 2>/dev/null)" = "${*:2}" ] && exit
        rm -rf "$folder"
        "${PYTHON:-python3}" -m venv "$folder"
        "$folder/bin/pip" install --quiet --disable-pip-version-check "${@:2}"
        echo "${*:2}" >"$folder/made-of"
    ) 9>"$folder.lock"
}

environment "$tools/agents-python" httpx==0.28.1 standardwebhooks==1.1.0 uvicorn==0.54.0 websockets==17.4
environment "$tools/agents-mcp" mcp==2.3.0
(
    flock 9
    cd "$repo/clients/typescript"
    [ -d node_modules ] || npm ci --no-audit --no-fund >/dev/null
    npx tsc
) 9>"$tools/agents-typescript.lock"

export PYTHON=$tools/agents-python/bin/python MCP_PYTHON=$tools/agents-mcp/bin/python
export PYTHONPATH=$repo/clients/python/src PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1
exec "$PYTHON" "$here/run.py" "$@"
