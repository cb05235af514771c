# Waits until stdin is closed, then ends the processes of a folder and removes the folder.
#
# usage: guard FOLDER SIGNAL
#
# A process belongs to the folder if its working directory is there: PostgreSQL and all its
# children, Redis, and also a server that a test restarted itself.

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

# After ten seconds the signal becomes KILL, which no process can ignore.
looks=0
while pids=$(running) && [ -n "$pids" ] && [ "$looks" -lt 150 ]; do
    [ "$looks" -lt 100 ] || signal=KILL
    # The signal is repeated only every five seconds: some servers skip their cleanup at the second one.
    [ $((looks % 50)) -ne 0 ] || kill -s "$signal" $pids
    looks=$((looks + 1))
    sleep 0.1
done

rm -rf -- "$folder"
