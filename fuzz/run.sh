#!/usr/bin/env bash
# Fuzzes all targets or one, two at a time, each for SECONDS. The input of a failure stays on disk.
#
# usage: fuzz/run.sh PROGRAM [TARGET] [SECONDS]
#
# PROGRAM is the built fuzzer of all targets. A target is a folder of fuzz/seeds; its words, if it has any, are in
# fuzz/dictionaries.
set -euo pipefail
cd "$(dirname "$0")/.."

program=$1 only=${2:-all} secs=${3:-60}
targets=$only
[ "$only" != all ] || targets=$(ls fuzz/seeds)
found=target/fuzz/findings
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The limits on bytes, seconds per input and memory: exceeding one is a finding, too. The program itself refuses an
# input that takes more than 50 ms of processor time.
fuzz() {
    local target=$1 words=()
    mkdir -p "$work/$target.corpus" "$found/$target"
    [ ! -e "fuzz/dictionaries/$target.dict" ] || words=("-dict=fuzz/dictionaries/$target.dict")
    NIGHTDESK_FUZZ_TARGET=$target "$program" "$work/$target.corpus" "fuzz/seeds/$target" "${words[@]}" \
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
