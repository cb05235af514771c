#!/usr/bin/env bash
# Fuzzes all targets or one, two at a time, each for SECONDS. The input of a failure stays on disk.
#
# usage: fuzz/run.sh PROGRAMS [TARGET] [SECONDS]
#
# PROGRAMS is the folder with the built targets. The seeds are in fuzz/seeds; Telegram's are its fixtures.
set -euo pipefail
cd "$(dirname "$0")/.."

programs=$1 only=${2:-all} secs=${3:-60}
targets="discord-interaction discord-gateway telegram-update media-head"
[ "$only" = all ] || targets=$only
found=target/fuzz/findings
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

seeds() {
    case $1 in
    telegram-update) echo platforms/telegram/fixtures ;;
    *) echo "fuzz/seeds/$1" ;;
    esac
}

# The limits on bytes, seconds per input and memory: exceeding one is a finding, too.
fuzz() {
    local target=$1
    mkdir -p "$work/$target.corpus" "$found/$target"
    "$programs/$target" "$work/$target.corpus" "$(seeds "$target")" \
        -max_total_time="$secs" -max_len=65536 -timeout=10 -rss_limit_mb=1024 \
        -print_final_stats=1 -artifact_prefix="$found/$target/" >"$work/$target.log" 2>&1
}

running=0
for target in $targets; do
    { fuzz "$target" || touch "$work/$target.failed"; } &
    running=$((running + 1))
    if [ "$running" -ge 2 ]; then
        wait -n
        running=$((running - 1))
    fi
done
wait

executions=0 findings=0 count=0
for target in $targets; do
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$work/$target.log")
    covered=$(grep -o 'cov: [0-9]*' "$work/$target.log" | tail -1 | cut -d' ' -f2 || true)
    echo "$target: executions=${runs:-0} edges=${covered:-0}"
    executions=$((executions + ${runs:-0})) count=$((count + 1))
    if [ -e "$work/$target.failed" ]; then
        findings=$((findings + 1))
        grep -A2 -E 'panicked at|ERROR: libFuzzer' "$work/$target.log" | head -n 12 || true
        echo "$target: the input is in $found/$target"
    fi
done
echo "fuzz: targets=$count seconds_each=$secs executions=$executions findings=$findings"
[ "$findings" -eq 0 ] && [ "$executions" -gt 0 ]
