#!/usr/bin/env bash
# What runs on the bare machine: the README's lines, as a person, in an empty folder. Says at
# its end what they left behind.
set -uo pipefail
mount -t proc proc /proc

as_person() {
    setpriv --reuid=person --regid=person --clear-groups -- "$@"
}

folder=$(as_person mktemp -d /srv/person/empty.XXXXXX)
cd "$folder" || exit 1
# Ctrl-C is for the lines; we stay to look at what is left.
trap : INT
as_person env -i HOME=/srv/person USER=person LANG=C.UTF-8 TMPDIR=/tmp \
    PATH=/opt/rust/bin:/usr/local/bin:/usr/bin:/bin \
    REPOSITORY=/opt/start/repository bash -e /opt/start/lines
ended=$?
processes=$(find /proc -maxdepth 1 -name '[0-9]*' -user person | wc -l)
files=$(find /tmp -mindepth 1 | wc -l)
echo "ended=$ended left_processes=$processes left_files=$files"
rm -rf "$folder"
