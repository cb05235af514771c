# Has the stock Hermes client at hand and runs a module of ours with its Python. To be sourced.
#
# The client goes into a private environment, made once and used again. PostgreSQL and
# Redis come from `cargo xtask with-servers`: run under it, or we call it ourselves.

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
repo=$(cd "$here/../.." && pwd)
version=0.19.0
cache=${XDG_CACHE_HOME:-$HOME/.cache}/nightdesk
# With what lets it call tools of others.
venv=$cache/hermes-venv-$version-mcp

# An environment without the mark was never finished.
install_client() {
    rm -rf "$venv"
    "${PYTHON:-python3}" -m venv "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check "hermes-agent[mcp]==$version"
    touch "$venv/complete"
}

# usage: drive MODULE [ARG…]
drive() {
    mkdir -p "$cache"
    (
        flock 9
        [ -e "$venv/complete" ] &&
            "$venv/bin/python" -c 'import gateway.relay.adapter, mcp' 2>/dev/null ||
            install_client
    ) 9>"$venv.lock"

    export NIGHTDESK_BIN=${NIGHTDESK_BIN:-$repo/target/debug/nightdesk}
    export PYTHONPATH=$here PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1
    local run=("$venv/bin/python" -m "$@")
    if [ -z "${NIGHTDESK_TEST_PG_ADMIN_URL:-}" ] && [[ ! " $* " =~ \ (--list|--help)\  ]]; then
        cd "$repo"
        run=(cargo xtask with-servers --redis -- "${run[@]}")
    fi
    exec "${run[@]}"
}
