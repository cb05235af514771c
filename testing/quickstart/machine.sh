#!/usr/bin/env bash
# A bare machine in a folder: Debian with the packages that are named and nothing else. Made
# once per list of packages, and kept.
#
# usage: machine.sh PACKAGE…    prints the folder
set -euo pipefail

suite=bookworm
# What every machine has that can reach https.
packages=$(printf '%s\n' ca-certificates "$@" | sort -u | paste -sd,)
name=$(printf '%s' "$suite,$packages" | sha256sum | cut -c1-16)
machine=${XDG_CACHE_HOME:-$HOME/.cache}/nightdesk/machine-$name

if [ ! -e "$machine/made" ]; then
    command -v mmdebstrap >/dev/null || apt-get install -qq -y --no-install-recommends mmdebstrap >&2
    rm -rf --one-file-system "$machine"
    # In a mount namespace of its own: ended half-way, it leaves nothing mounted in the folder.
    unshare --mount mmdebstrap --quiet --variant=minbase --include="$packages" "$suite" "$machine" >&2
    useradd --root "$machine" --home-dir /srv/person person
    touch "$machine/made"
fi
echo "$machine"
