#!/usr/bin/env bash
# Proves the platforms: counts the cases of their tests, and runs third-party clients and fakes.
#
# usage: platforms.sh OPTION…    cargo's options that select packages and features
#
# A platform is one line below: its name, and the script that runs third-party checks, whose last line contains
# `…_checks=passed/begun` for each of them. Its tests record each case with `nightdesk_testkit::cases`: `fixture` is an
# event of the platform, `op` an operation among its capabilities, `fault` a fault of the platform.

set -euo pipefail
repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$repo"

platforms=(
    "discord testing/discord/client.sh"
    "telegram testing/telegram/others.sh"
)

mkdir -p target
cases=$repo/target/platform-cases
rm -f "$cases"
touch "$cases"
failed=0

tests=()
for platform in "${platforms[@]}"; do
    tests+=(-E "package(nightdesk-${platform%% *})")
done
cargo build "$@" --example 'fake-*' --example '*-echo'
NIGHTDESK_CASES=$cases cargo nextest run "$@" --exclude nightdesk-interleavings --no-fail-fast --lib "${tests[@]}" || failed=1
for platform in "${platforms[@]}"; do
    NIGHTDESK_CASES=$cases cargo nextest run "$@" --no-fail-fast \
        --test "${platform%% *}" || failed=1
done

# Prints the number of passed and of begun cases of a kind. Fails if there are none.
passed() {
    local of begun passed
    of=$(grep "^$1 $2 " "$cases" || true)
    begun=$(grep -c ' begun$' <<< "$of" || true)
    passed=$(grep -c ' passed$' <<< "$of" || true)
    echo "$passed/$begun"
    [ "$begun" -gt 0 ] && [ "$passed" -eq "$begun" ]
}

last="platforms:" others_passed=0 others_begun=0
for platform in "${platforms[@]}"; do
    read -r name others <<< "$platform"
    said=$("$others" | tee >(cat >&2) | tail -n 1) || failed=1
    for checks in $(grep -o '_checks=[0-9]*/[0-9]*' <<< "$said" | cut -d= -f2); do
        others_passed=$((others_passed + ${checks%/*})) others_begun=$((others_begun + ${checks#*/}))
    done
    fixtures=$(passed "$name" fixture) || failed=1
    ops=$(passed "$name" op) || failed=1
    faults=$(passed "$name" fault) || failed=1
    echo "$name: fixtures passed $fixtures, ops passed of those advertised $ops, faults survived $faults"
    last+=" ${name}_fixtures=$fixtures ${name}_ops=$ops ${name}_faults=$faults"
done
echo "$last others=$others_passed/$others_begun"
exit "$failed"
