#!/usr/bin/env bash
# Enters the bare machine with separate namespaces for processes and mounts.
#
# usage: outside.sh MACHINE FOLDER    FOLDER has `lines` and `repository`
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
machine=$1 folder=$2
# The sysroot, not rustup, which would download the installed toolchain again.
rust=$(rustc --print sysroot)
export machine folder rust here

exec unshare --mount --pid --fork --kill-child bash -euo pipefail -c '
    at() { mkdir -p "$machine$2"; mount --bind "$1" "$machine$2"; mount -o remount,bind,ro "$machine$2"; }
    at "$rust" /opt/rust
    at "$folder" /opt/start
    at "$here" /opt/here
    mount -t tmpfs -o mode=1777 tmpfs "$machine/tmp"
    mount -t tmpfs -o mode=755 tmpfs "$machine/srv"
    mkdir "$machine/srv/person" && chown 1000:1000 "$machine/srv/person"
    mount --bind /dev "$machine/dev"
    # The machine uses the host network, and so its name resolution and trusted roots.
    for file in /etc/resolv.conf /etc/hosts /etc/ssl/certs/ca-certificates.crt; do
        touch "$machine$file" && mount --bind "$file" "$machine$file"
    done
    exec chroot "$machine" bash /opt/here/inside.sh
'
