# What one does here, each in one word. CI runs these recipes and nothing else (.ci/run, .ci/gate.list).

set shell := ["bash", "-euo", "pipefail", "-c"]

# Where `.ci/tools` puts what the machine lacks.
tools := env("NIGHTDESK_TOOLS", env("HOME") / ".cache/nightdesk/tools")

# One choice of packages and features for tests and proofs: cargo would build nearly everything anew for another.
whole := "--locked --workspace --features nightdesk/scripted,nightdesk/planted"

# The simulation is built with flags of its own, and so in a folder of its own.
sim_target := env("CARGO_TARGET_DIR", "target") / "sim"

# So are the fuzzers.
fuzz_target := env("CARGO_TARGET_DIR", "target") / "fuzz"
coverage := "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4" \
    + " -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table" \
    + " -Cllvm-args=-sanitizer-coverage-trace-compares -Cllvm-args=-simplifycfg-branch-fold-threshold=0"

export PATH := tools / "bin" + ":" + tools / "venv/bin" + ":" + env("PATH")

# List the recipes.
default:
    @just --list --unsorted

# Format the code.
fmt:
    cargo fmt --all

# Check form: format, clippy, docs, house rules, dependencies, spelling.
lint: _advisories
    cargo fmt --all --check
    cargo fetch --locked
    cargo clippy --locked --workspace --all-targets --all-features -- -D warnings
    RUSTDOCFLAGS=-Dwarnings cargo doc --locked --workspace --all-features --no-deps
    cargo xtask tidy
    cargo deny --offline check
    cargo machete
    typos

# Measure the code: size, shape, and what it owes to STYLE.md; `just house --list cycles` names the places behind a figure.
house *ARGS:
    cargo xtask house {{ ARGS }}

# Run the tests, or those that ARGS select, on servers of their own.
test *ARGS:
    cargo xtask with-servers --redis -- cargo nextest run {{ whole }} {{ ARGS }}

# Drive the whole stock Hermes gateway against the desk; ARGS as in testing/hermes/README.md.
hermes *ARGS: _world
    NIGHTDESK_BIN="$(just _built debug)" testing/hermes/turns.sh {{ ARGS }}

# Drive the stock Hermes client's transport against the desk; ARGS as in testing/hermes/README.md.
hermes-line *ARGS: _world
    NIGHTDESK_BIN="$(just _built debug)" testing/hermes/line.sh {{ ARGS }}

# The same scenario with a bug planted in the desk: it must fail.
hermes-line-planted: _world
    NIGHTDESK_BIN="$(just _built debug)" testing/hermes/line.sh \
        --planted X1 --expect-failure --only desk_killed_with_entries_in_flight

# Run every proof and print one table: `just nightly`, `just nightly --part 2/3`, `just nightly herd noisy`. Budget: hours.
nightly *ARGS:
    bash .ci/run --nightly {{ ARGS }}

# Have the stock Hermes client's jobs told by the desk; ARGS as in testing/hermes/README.md. Budget: 3 minutes.
hermes-cron *ARGS: _world
    NIGHTDESK_BIN="$(just _built debug)" testing/hermes/fires.sh {{ ARGS }}

# Have two stock Hermes agents write to each other; ARGS as in testing/hermes/README.md. Budget: 4 minutes.
hermes-letters *ARGS: _world
    NIGHTDESK_BIN="$(just _built debug)" testing/hermes/letters.sh {{ ARGS }}

# Have a client of others use every tool of the desk's, and again. Budget: 1 minute.
mcp: _world
    NIGHTDESK_BIN="$(just _built debug)" testing/mcp/client.sh

# Test the client for skillscript's runtime. Budget: 1 minute.
skillscript:
    clients/skillscript/test.sh

# Put fires, good and forged, before the SDK's door and before the stock client's verifier. Budget: 1 minute.
fire-tokens *ARGS: _world
    cargo nextest run {{ whole }} --lib \
        -E 'package(nightdesk-sdk) & test(/^cron::(token|tests::refusing)::/)'
    NIGHTDESK_BIN="$(just _built debug)" testing/hermes/fire.sh {{ ARGS }}

# Hold our fake Telegram to its word with a client of others, and our adapter with a fake of others.
telegram-others:
    cargo build --locked -p nightdesk-testkit --examples
    testing/telegram/others.sh

# Prove every platform: what it says, what it can do, what it does wrong. Budget: 3 minutes.
platforms:
    testing/platforms.sh {{ whole }}

# Hold our fake Discord to its word with a client of others.
discord-others *ARGS:
    cargo build --locked -p nightdesk-testkit --no-default-features --features discord --example fake-discord
    testing/discord/client.sh {{ ARGS }}

# Answer on Telegram itself what is said to the bot of TELEGRAM_TOKEN and TELEGRAM_HANDLE, until it is ended.
live-telegram:
    cargo build --locked -p nightdesk-testkit --example telegram-echo
    printenv TELEGRAM_TOKEN | "${CARGO_TARGET_DIR:-target}/debug/examples/telegram-echo" https://api.telegram.org "$TELEGRAM_HANDLE"

# Answer on Discord itself what is said to the bot of DISCORD_TOKEN, until it is ended.
live-discord:
    cargo build --locked -p nightdesk-testkit --example discord-echo
    printenv DISCORD_TOKEN | "${CARGO_TARGET_DIR:-target}/debug/examples/discord-echo"

# Play 500 seeds of a simulated cell, or the one that is named. Budget: 4 minutes on two cores.
sim *ARGS: _simulation
    {{ sim_target }}/sim/nightdesk-sim {{ ARGS }}

# Plant every bug that a simulation can show: each must be found. Budget: 1 minute.
sim-planted: _simulation
    {{ sim_target }}/sim/nightdesk-sim --planted

# With tokio's unstable parts also the choices of `select!` follow from the seed.
_simulation:
    RUSTFLAGS="--cfg tokio_unstable" CARGO_TARGET_DIR={{ sim_target }} \
        cargo build --locked --profile sim -p nightdesk-sim --features planted

# Fuzz what strangers may send: all targets, or one, for so many seconds each. Budget: 2 minutes, and the build.
fuzz TARGET="all" SECONDS="60": _fuzzers
    fuzz/run.sh {{ fuzz_target }}/x86_64-unknown-linux-gnu/fuzz {{ TARGET }} {{ SECONDS }}

# With the passes of the compiler that say to the fuzzer how far an input came. Only what runs in a target has
# them, not what builds it.
_fuzzers:
    RUSTFLAGS="{{ coverage }}" CARGO_TARGET_DIR={{ fuzz_target }} \
        cargo build --locked --profile fuzz --target x86_64-unknown-linux-gnu -p nightdesk-fuzz --features run

# Look at our own page through a real Chromium; the screenshots go to FOLDER.
webchat-look FOLDER="target/webchat-look" *ARGS: _world
    NIGHTDESK_BIN="$(just _built debug)" testing/browser/look.sh {{ FOLDER }} {{ ARGS }}

# Run the README's quick start word for word on a bare machine, up to an answer in Chromium.
quickstart:
    python3 testing/quickstart/quickstart.py

# Measure what ten thousand idle lines cost the desk and PostgreSQL.
idle-lines *ARGS: _proofs
    NIGHTDESK_BIN="$(just _built release)" "$(dirname "$(just _built release)")/idle-lines" {{ ARGS }}

# Measure what agents that sleep cost: bytes in PostgreSQL, and no sockets.
sleepers *ARGS: _proofs
    NIGHTDESK_BIN="$(just _built release)" "$(dirname "$(just _built release)")/sleepers" {{ ARGS }}

# Measure accept, hand-over and ack beside bare PostgreSQL doing the same writes. Three nodes and a
# Redis, so that most entries cross; `just road-rate --nodes 1` is one node alone.
road-rate *ARGS: _proofs
    NIGHTDESK_BIN="$(just _built release)" "$(dirname "$(just _built release)")/road-rate" {{ ARGS }}

# Measure letters from agent to agent, accepted, handed over and acked, beside the road's own events in the same run.
letters-rate *ARGS: _proofs
    NIGHTDESK_BIN="$(just _built release)" "$(dirname "$(just _built release)")/letters-rate" {{ ARGS }}

# Measure how soon a sleeping agent is called and has what waits, beside a plain GET and a bare line.
wake-latency *ARGS: _proofs
    NIGHTDESK_BIN="$(just _built release)" "$(dirname "$(just _built release)")/wake-latency" {{ ARGS }}

# Arm a million jobs and have ten thousand due in the same second: how late is the last, and is any early, missed or
# doubled? Beside it, the claim alone against the bare statement.
cron-load *ARGS: _proofs
    NIGHTDESK_BIN="$(just _built release)" "$(dirname "$(just _built release)")/cron-load" {{ ARGS }}

# Kill a desk with ten thousand lines and start it again: everybody must come back, with everything.
herd *ARGS: _proofs
    NIGHTDESK_BIN="$(just _built release)" "$(dirname "$(just _built release)")/herd" {{ ARGS }}

# Have one tenant's people write fifty times as much as they may: others must not notice.
noisy *ARGS: _proofs
    NIGHTDESK_BIN="$(just _built release)" "$(dirname "$(just _built release)")/noisy" {{ ARGS }}

# Measure what it costs when a hint between two desks is lost and nobody notices.
lost-hint *ARGS: _world
    NIGHTDESK_BIN="$(just _built debug)" "$(dirname "$(just _built debug)")/lost-hint" {{ ARGS }}

# Put out what models of the desk's rules say about herds and hot tenants (docs/scale.md).
scale-model: _world
    "$(dirname "$(just _built debug)")/scale-model"

# Put every store to its contract's suite, and every suite to stores with planted faults.
conformance: _world
    "$(dirname "$(just _built debug)")/conformance"

# Run two releases beside each other while the database is migrated. Nothing may be lost.
rolling-upgrade *ARGS: _world
    NIGHTDESK_BIN="$(just _built debug)" "$(dirname "$(just _built debug)")/rolling-upgrade" {{ ARGS }}

# Measure how long the judge takes over a long history, and how much memory.
judge-rate *ARGS:
    cargo build --locked --release -p nightdesk-judge
    "$(dirname "$(just _built release)")/judge-rate" {{ ARGS }}

# Replace every kind of key under load, and search for each of them. Budget: 4 minutes.
secrets *ARGS: _world
    NIGHTDESK_BIN="$(just _built debug)" "$(dirname "$(just _built debug)")/secrets" {{ ARGS }}

# The same with a bug planted in the desk: it must fail.
secrets-planted: _world
    ! NIGHTDESK_BIN="$(just _built debug)" "$(dirname "$(just _built debug)")/secrets" \
        --tenants 2000 --planted X18

# Count what the gate decides and lets in while bindings and grants come and go. Budget: 90 seconds.
gate-rate *ARGS: _world
    NIGHTDESK_BIN="$(just _built debug)" "$(dirname "$(just _built debug)")/gate-rate" {{ ARGS }}

# The same with a bug planted in the desk: it must fail.
gate-rate-planted: _world
    ! NIGHTDESK_BIN="$(just _built debug)" "$(dirname "$(just _built debug)")/gate-rate" \
        --planted X23

# Ask every route for what is another's, and share rooms, bots of Discord and bots of Telegram among
# tenants: nothing may cross. Budget: 6 minutes.
isolation *ARGS: _world
    mkdir -p target && rm -f target/isolation-cases
    NIGHTDESK_CASES="$PWD/target/isolation-cases" \
        cargo nextest run {{ whole }} --no-fail-fast --test street -E 'test(/^isolation::/)' || true
    NIGHTDESK_BIN="$(just _built debug)" "$(dirname "$(just _built debug)")/isolation" \
        --cases target/isolation-cases {{ ARGS }}

# The same with each bug planted in the desk that lets something cross: it must be seen.
isolation-planted: _world
    #!/usr/bin/env bash
    set -euo pipefail
    desk="$(just _built debug)"
    folder="$(mktemp -d)"
    trap 'rm -rf "$folder"' EXIT
    for bug in X9 X18 X19 X26; do
        if said=$(NIGHTDESK_BIN="$desk" "$(dirname "$desk")/isolation" \
            --seconds 20 --rounds 1 --folder "$folder" --planted $bug); then
            echo "$bug was not seen"
            exit 1
        fi
        echo "$bug: $said"
        grep -q '^isolation: .*crossed=[1-9]' <<< "$said"
        # Nobody writes letters beside the platforms.
        [ $bug = X26 ] || grep -q '^platforms: .*crossed=[1-9]' <<< "$said"
    done

# Strike three nodes with every fault there is, one after the other, and judge. Budget: 6 minutes.
chaos-smoke *ARGS: _world
    NIGHTDESK_BIN="$(just _built debug)" "$(dirname "$(just _built debug)")/prove-run" \
        --name chaos-smoke --faults all --nodes 3 --redis --street 30 --jobs 40 --letters 24 --seconds 240 \
        --rate 180 --events-min 50000 {{ ARGS }}

# Kill the node that listens on Discord twenty times under load: the other must resume, and lose nothing. Budget: 7 minutes.
owner-kill *ARGS: _world
    NIGHTDESK_BIN="$(just _built debug)" "$(dirname "$(just _built debug)")/owner-kill" {{ ARGS }}

# The same with half as many deaths, some of each kind.
owner-kill-smoke: _world
    NIGHTDESK_BIN="$(just _built debug)" "$(dirname "$(just _built debug)")/owner-kill" --kills 10

# The same with a bug planted in the desk: it must be seen.
owner-kill-planted: _world
    #!/usr/bin/env bash
    set -euo pipefail
    desk="$(just _built debug)"
    folder="$(mktemp -d)"
    trap 'rm -rf "$folder"' EXIT
    if said=$(NIGHTDESK_BIN="$desk" "$(dirname "$desk")/owner-kill" \
        --kills 4 --planted X1 --folder "$folder"); then
        echo "X1 was not seen"
        exit 1
    fi
    echo "$said"
    grep -q 'lost=[1-9]' <<< "$said"

# Strike it at random: `just chaos SEED=7 MINUTES=10`. Without a seed, one is made up and printed.
chaos *SETTINGS: _world
    NIGHTDESK_BIN="$(just _built debug)" PROVE="$(dirname "$(just _built debug)")/prove-run" \
        env {{ SETTINGS }} bash -c '"$PROVE" --name chaos --faults all --at-random --redis --jobs 40 --letters 24 \
        --seed "${SEED:-$RANDOM}" --seconds "$((${MINUTES:-5} * 60))" --nodes "${NODES:-3}"'

# Plant each bug in the desk: the judge must find it from outside, and nothing where there is none.
mutants-of-the-desk *ARGS: _world _simulation
    NIGHTDESK_BIN="$(just _built debug)" NIGHTDESK_SIM_BIN={{ sim_target }}/sim/nightdesk-sim \
        "$(dirname "$(just _built debug)")/mutants-of-the-desk" {{ ARGS }}

# What proofs of a debug build need.
_world:
    cargo build {{ whole }} --bins --example fake-discord --example fake-telegram --example mint-fire

_proofs:
    cargo build --locked --release -p nightdesk --features scripted -p nightdesk-prove

# Where the binary of a profile was built.
_built profile:
    @echo "${CARGO_TARGET_DIR:-target}/{{ profile }}/nightdesk" | xargs realpath

# Write what is made: schema.sql and .sqlx from the migrations, docs/openapi.json from the routes.
gen:
    cargo xtask schema
    cargo xtask sqlx
    cargo build {{ whole }} --example openapi
    "$(dirname "$(just _built debug)")/examples/openapi" > docs/openapi.json

# Compare what is made from the migrations with what is there; a test compares the rest.
gen-check:
    cargo xtask schema --check
    cargo xtask sqlx --check

# Unpack the advisory database where cargo-deny looks for it, and say how old it is.
_advisories:
    #!/usr/bin/env bash
    set -euo pipefail
    bundle=data/rustsec-advisory-db.bundle
    unpacked=target/advisory-db/advisory-db-3157b0e258782691
    want=$(git bundle list-heads "$bundle" refs/heads/main | cut -d' ' -f1)
    if [ "$(git -C "$unpacked" rev-parse HEAD 2>/dev/null)" != "$want" ]; then
        rm -rf "$unpacked"
        git clone -q -b main "$bundle" "$unpacked"
    fi
    taken=$(cat data/rustsec-advisory-db.date)
    days=$((($(date +%s) - $(date -d "$taken" +%s)) / 86400))
    echo "advisory database of $taken, $days days old"
