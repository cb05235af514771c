# Waits until the other end of stdin is gone; then ends what runs in a folder, and removes it.
#
# usage: guard FOLDER SIGNAL
#
# What runs in the folder is what has its working directory there: PostgreSQL and all its
# children, Redis, and also a server that a test has started again by itself.

folder=$1
signal=$2

running() {
    for process in /proc/[0-9]*; do
        case $(readlink "$process/cwd") in
        "$folder" | "$folder"/*) echo "${process#/proc/}" ;;
        esac
    done
}

trap '' INT TERM HUP
cat

# Ten seconds of patience, then the signal nobody can ignore.
looks=0
while pids=$(running) && [ -n "$pids" ] && [ "$looks" -lt 150 ]; do
    [ "$looks" -lt 100 ] || signal=KILL
    # Repeated now and then only: asked twice, some servers skip their own cleaning up.
    [ $((looks % 50)) -ne 0 ] || kill -s "$signal" $pids
    looks=$((looks + 1))
    sleep 0.1
done

rm -rf -- "$folder"
