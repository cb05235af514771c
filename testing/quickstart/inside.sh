#!/usr/bin/env bash
# Runs on the bare machine: the README's commands, as an ordinary user, in an empty folder. Prints at the end the
# number of processes and files that are left.
set -uo pipefail
mount -t proc proc /proc

as_person() {
    setpriv --reuid=person --regid=person --clear-groups -- "$@"
}

folder=$(as_person mktemp -d /srv/person/empty.XXXXXX)
cd "$folder" || exit 1
# Ctrl-C ends the commands; this script stays to count the rest.
trap : INT
as_person env -i HOME=/srv/person USER=person LANG=C.UTF-8 TMPDIR=/tmp \
    PATH=/opt/rust/bin:/usr/local/bin:/usr/bin:/bin \
    REPOSITORY=/opt/start/repository bash -e /opt/start/lines
ended=$?
processes=$(find /proc -maxdepth 1 -name '[0-9]*' -user person | wc -l)
files=$(find /tmp -mindepth 1 | wc -l)
echo "ended=$ended left_processes=$processes left_files=$files"
rm -rf "$folder"
