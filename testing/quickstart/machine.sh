#!/usr/bin/env bash
# Creates a bare machine in a folder: Debian with the given packages and nothing else. One machine per list of packages
# stays in the cache.
#
# usage: machine.sh PACKAGE…    prints the folder
set -euo pipefail

suite=bookworm
# Every machine that can reach https has this package.
packages=$(printf '%s\n' ca-certificates "$@" | sort -u | paste -sd,)
name=$(printf '%s' "$suite,$packages" | sha256sum | cut -c1-16)
machine=${XDG_CACHE_HOME:-$HOME/.cache}/nightdesk/machine-$name

if [ ! -e "$machine/made" ]; then
    command -v mmdebstrap >/dev/null || apt-get install -qq -y --no-install-recommends mmdebstrap >&2
    rm -rf --one-file-system "$machine"
    # In a separate mount namespace: if it is interrupted, nothing stays mounted in the folder.
    unshare --mount mmdebstrap --quiet --variant=minbase --include="$packages" "$suite" "$machine" >&2
    useradd --root "$machine" --home-dir /srv/person person
    touch "$machine/made"
fi
echo "$machine"
