#!/usr/bin/env bash
# Runs proofs and tests of the mutated build with mutants that they must detect.
#
# usage: proofs.sh TARGET CARGO_ARGUMENT…
# TARGET is the target folder of the mutated build, with the tree in TARGET/tree.
set -euo pipefail
target=$1
whole=("${@:2}")
export NIGHTDESK_BIN=$target/debug/nightdesk
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
caught=0 planted=0

# detects MUTANT PATTERN COMMAND…: the command must fail, and the lines of its output must match the pattern.
detects() {
    local mutant=$1 pattern=$2 said
    planted=$((planted + 1))
    if said=$("${@:3}") || ! tr '\n' ' ' <<<"$said" | grep -Eq "$pattern"; then
        echo "missed $mutant by ${*:3}: $said"
        return
    fi
    echo "caught $mutant by $3: ${said##*$'\n'}"
    caught=$((caught + 1))
}

# test_in FILE NAME [MUTANT]: runs one test of the mutated tree.
test_in() {
    NIGHTDESK_MUTANT=${3:-} CARGO_TARGET_DIR=$target cargo nextest run \
        --manifest-path "$target/tree/Cargo.toml" "${whole[@]}" --test "$1" -E "test(=$2)"
}

# test_detects MUTANT FILE NAME: the test must pass without the mutant and fail with it.
test_detects() {
    test_in "$2" "$3"
    detects "$1" '' test_in "$2" "$3" "$1"
}

test_detects X11 fires all_tries_of_a_fire_have_one_id
test_detects X12 fires a_job_is_due_by_the_stores_clock
test_detects X16 honeypots no_address_in_a_url_reaches_a_honeypot
test_detects X22 postgres sources::a_crash_loses_nothing_of_a_source

# X26 is about letters, and there are none beside the platforms.
isolation=("$target/debug/isolation" --seconds 20 --rounds 1 --folder "$folder")
for mutant in X9 X18 X19; do
    detects $mutant 'platforms: [^:]*crossed=[1-9].* isolation: [^:]*crossed=[1-9]' "${isolation[@]}" --mutant $mutant
done
detects X26 'isolation: [^:]*crossed=[1-9]' "${isolation[@]}" --mutant X26
detects X1 'lost=[1-9]' "$target/debug/owner-kill" --kills 4 --folder "$folder" --mutant X1
detects X23 '' "$target/debug/gate-rate" --mutant X23
detects X18 '' "$target/debug/secrets" --tenants 2000 --mutant X18

planted=$((planted + 1))
if testing/hermes/line.sh --mutant X1 --expect-failure --only desk_killed_with_entries_in_flight; then
    caught=$((caught + 1))
fi

echo "mutants-of-the-proofs: caught=$caught planted=$planted"
[ $caught -eq $planted ]
