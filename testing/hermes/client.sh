# Sourced: installs a stock Hermes client and runs one of our modules with its Python.
#
# Each client has a private environment, which is created once. `crates/protocol/clients.json` lists the tested clients.
# PostgreSQL and Redis come from `cargo xtask with-servers`; the script calls it unless it already runs under it.

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
repo=$(cd "$here/../.." && pwd)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/nightdesk
python=${PYTHON:-python3}

# usage: clients EXPRESSION [ARG…], a Python expression over the list of `clients` and `args`
clients() {
    "$python" -c '
import json, sys
known = json.load(open(sys.argv[1]))
contract, clients, args = known["contract"], known["clients"], sys.argv[3:]
print(eval(sys.argv[2]))' "$repo/crates/protocol/clients.json" "$@"
}

# usage: client_field VERSION FIELD
client_field() { clients 'next((c.get(args[1], "") for c in clients if c["version"] == args[0]), "")' "$@"; }

# With the extra `mcp` the client can call the tools of MCP servers. A gateway of 0.20 receives fires through its API
# server, which needs aiohttp.
install_client() {
    rm -rf "$venv"
    "$python" -m venv "$venv"
    case $(client_field "$version" source) in
    pypi) pip_install "hermes-agent[mcp]==$version" ;;
    upstream) install_from_upstream ;;
    esac
    # An environment without the file `complete` is unfinished.
    touch "$venv/complete"
}

pip_install() { "$venv/bin/pip" install --quiet --disable-pip-version-check "$@"; }

# pip cannot install upstream's tree. So the environment has the dependencies of PyPI's newest release, without that
# release itself, and a path file points to the tree.
install_from_upstream() {
    fetch_tree "$venv/tree"
    pip_install "hermes-agent[mcp]==$(clients '[c["version"] for c in clients if c["source"] == "pypi"][-1]')" \
        "nemo-relay>=0.7.1,<0.8" "aiohttp==3.14.3"
    "$venv/bin/pip" uninstall --quiet --yes hermes-agent
    echo "$venv/tree" >"$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/hermes.pth"
    printf '#!/bin/sh\nexec "%s" -m hermes_cli.main "$@"\n' "$venv/bin/python" >"$venv/bin/hermes"
    chmod +x "$venv/bin/hermes"
}

# usage: fetch_tree FOLDER
fetch_tree() {
    local archive=${NIGHTDESK_COUNTERPARTS:-}/hermes-agent-$version.tar.xz
    local tag commit repository
    tag=$(client_field "$version" tag)
    commit=$(client_field "$version" commit)
    repository=$(clients 'contract["repository"]')
    mkdir -p "$1"
    if [ -e "$archive" ]; then
        tar -C "$1" --strip-components=1 -xf "$archive"
    elif ! git clone --quiet --depth 1 --branch "$tag" "$repository" "$1"; then
        echo "Hermes $version is not on PyPI, and $repository cannot be cloned." >&2
        echo "Set NIGHTDESK_COUNTERPARTS to a folder with hermes-agent-$version.tar.xz, or allow the clone." >&2
        return 1
    elif [[ $(git -C "$1" rev-parse HEAD) != "$commit"* ]]; then
        echo "$tag of $repository is not commit $commit, which Hermes $version was read from." >&2
        return 1
    fi
}

# Removes `--client VERSION` from the arguments: sets `version` to the client and `rest` to the other arguments.
choose_client() {
    version=$(clients 'clients[-1]["version"]')
    rest=()
    while [ $# -gt 0 ]; do
        case $1 in
        --client) version=${2:?--client needs a version} && shift ;;
        --client=*) version=${1#*=} ;;
        *) rest+=("$1") ;;
        esac
        shift
    done
    if [ -z "$(client_field "$version" source)" ]; then
        echo "--client $version: the clients are $(clients '", ".join(c["version"] for c in clients)')" >&2
        exit 2
    fi
    venv=$cache/hermes-venv-$version-mcp-api
}

# Installs the chosen client if it is missing.
have_client() {
    mkdir -p "$cache"
    (
        set -e
        flock 9
        [ -e "$venv/complete" ] &&
            "$venv/bin/python" -c 'import gateway.relay.adapter, mcp' 2>/dev/null ||
            install_client
    ) 9>"$venv.lock"
}

# usage: drive MODULE [--client VERSION] [ARG…]
drive() {
    local module=$1
    shift
    choose_client "$@"
    have_client

    export NIGHTDESK_BIN=${NIGHTDESK_BIN:-$repo/target/debug/nightdesk}
    export NIGHTDESK_CLIENT=$version
    export PYTHONPATH=$here PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1
    local run=("$venv/bin/python" -m "$module" "${rest[@]}")
    if [ -z "${NIGHTDESK_TEST_PG_ADMIN_URL:-}" ] && [[ ! " ${rest[*]} " =~ \ (--list|--help)\  ]]; then
        cd "$repo"
        run=(cargo xtask with-servers --fsync --redis -- "${run[@]}")
    fi
    exec "${run[@]}"
}
