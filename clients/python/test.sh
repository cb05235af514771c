#!/usr/bin/env bash
# Checks and tests the Python SDK. The last line has the number of tests and of product lines: lines of code in
# src/nightdesk, without blank lines, comments and docstrings.
#
# With NIGHTDESK_BIN, the path of a `nightdesk` binary, the tests against the real desk run too. They need PostgreSQL.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

tools=${NIGHTDESK_TOOLS:-$HOME/.cache/nightdesk/tools}
venv=$tools/python-client
export PYTHONDONTWRITEBYTECODE=1

# An environment is used again while it was made from the same list.
install() {
    rm -rf "$venv"
    "${PYTHON:-python3}" -m venv "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check -r requirements-dev.txt
    cp requirements-dev.txt "$venv/made-from"
}

mkdir -p "$tools"
(
    flock 9
    cmp -s requirements-dev.txt "$venv/made-from" || install
) 9>"$venv.lock"

in_venv() { "$venv/bin/$1" "${@:2}"; }

in_venv ruff format --no-cache --check --quiet .
in_venv ruff check --no-cache --quiet .
in_venv mypy --strict --cache-dir "$venv/mypy-cache" src/nightdesk
MYPYPATH=src:tests in_venv mypy --strict --cache-dir "$venv/mypy-cache" --explicit-package-bases tests examples

said=$(mktemp)
trap 'rm -f "$said"' EXIT
in_venv pytest -p no:cacheprovider --junitxml "$said" >&2 || failed=1
count() { sed -n "s/.*<testsuite [^>]*$1=\"\([0-9]*\)\".*/\1/p" "$said"; }
skipped=$(count skipped)
tests=$(($(count tests) - skipped))
passed=$((tests - $(count failures) - $(count errors)))
echo "clients-python: tests=$tests passed=$passed lines=$(in_venv python tests/count_lines.py src/nightdesk)"
[ "$tests" -gt 0 ] && [ -z "${failed:-}" ]
