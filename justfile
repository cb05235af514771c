# The recipes of this repository. CI runs only these recipes (.ci/run, .ci/gate.list).

set shell := ["bash", "-euo", "pipefail", "-c"]

# The folder into which `.ci/tools` installs missing tools.
tools := env("NIGHTDESK_TOOLS", env("HOME") / ".cache/nightdesk/tools")

# One set of packages and features for tests and proofs: with another set, cargo rebuilds nearly everything.
whole := "--locked --workspace --features nightdesk/scripted,nightdesk/failpoints"

# With --lib, cargo also tests the library of loom's scenarios, which compiles files of the product without their tests.
no_loom := "--exclude nightdesk-interleavings"

# The binaries for proofs.
world := whole + " --bins --example fake-discord --example fake-telegram --example mint-fire --example steady_echo --example stoppable"

# The simulation has its own compiler flags, so it needs its own target folder.
sim_target := env("CARGO_TARGET_DIR", "target") / "sim"

# The fuzzer does, too.
fuzz_target := env("CARGO_TARGET_DIR", "target") / "fuzz"
coverage := "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4" \
    + " -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table" \
    + " -Cllvm-args=-sanitizer-coverage-trace-compares -Cllvm-args=-simplifycfg-branch-fold-threshold=0"

# The mutated copy of the tree, and its builds.
mutants_target := env("CARGO_TARGET_DIR", "target") / "mutants"
mutants_tree := mutants_target / "tree"

# A copy of the tree that does not seal messages, and its build.
unsealed_target := env("CARGO_TARGET_DIR", "target") / "unsealed"

# The advisory database, of which data/ has a copy.
advisories := "https://github.com/rustsec/advisory-db"

export PATH := tools / "bin" + ":" + tools / "venv/bin" + ":" + env("PATH")

# List the recipes.
default:
    @just --list --unsorted

# Format the code.
fmt:
    cargo fmt --all

# Check form: format, clippy, house rules, dependencies, spelling.
lint: _advisories
    cargo fmt --all --check
    cargo fetch --locked
    cargo clippy --locked --workspace --all-targets --all-features -- -D warnings
    cargo xtask tidy
    cargo xtask mutants check
    cargo deny --offline check
    bash .ci/canary-crates
    cargo machete
    typos

# Build the documentation of the code; a broken link fails.
doc:
    RUSTDOCFLAGS=-Dwarnings cargo doc --locked --workspace --all-features --no-deps

# Measure the code's size and shape, and its violations of STYLE.md; `just house --list cycles` lists the places behind a figure.
house *ARGS:
    cargo xtask house {{ ARGS }}

# Check that docs/threats.md lists every threat and names existing tests, and count the threats that are held.
threats:
    cargo xtask threats

# Run the tests of the holes that a hostile read of the code found, and count those that are closed.
holes:
    testing/holes.py

# Check that docs/contracts.md has a row for each section of the contracts, and run every test that it names.
# `just contracts --names-only` runs none. Budget: 5 minutes, and the build.
contracts *ARGS:
    testing/contracts.py {{ ARGS }}

# Run the tests and the examples of the docs, or the tests that ARGS select, on temporary servers.
test *ARGS:
    cargo xtask with-servers --redis -- cargo nextest run {{ whole }} {{ ARGS }}
    {{ if ARGS == "" { "cargo test " + whole + " --doc" } else { "" } }}

# Drive the whole stock Hermes gateway against the desk; ARGS as in testing/hermes/README.md.
hermes *ARGS: _world
    NIGHTDESK_BIN="$(just _built debug)" testing/hermes/turns.sh {{ ARGS }}

# Drive the stock Hermes client's transport against the desk; ARGS as in testing/hermes/README.md.
hermes-line *ARGS: _world
    NIGHTDESK_BIN="$(just _built debug)" testing/hermes/line.sh {{ ARGS }}

# Run every proof and print one table: `just nightly`, `just nightly --part 2/3`, `just nightly herd noisy`. Budget: hours.
nightly *ARGS:
    bash .ci/run --nightly {{ ARGS }}

# Fire the stock Hermes client's jobs from the desk; ARGS as in testing/hermes/README.md. Budget: 3 minutes.
hermes-cron *ARGS: _world
    NIGHTDESK_BIN="$(just _built debug)" testing/hermes/fires.sh {{ ARGS }}

# Exchange letters between two stock Hermes agents; ARGS as in testing/hermes/README.md. Budget: 4 minutes.
hermes-letters *ARGS: _world
    NIGHTDESK_BIN="$(just _built debug)" testing/hermes/letters.sh {{ ARGS }}

# Stop running turns of every kind of client from every origin; `--only rust` for one client. Budget: 20 minutes.
stop *ARGS: _world
    cd clients/typescript && npm ci --no-audit --no-fund > /dev/null && npx tsc
    NIGHTDESK_BIN="$(just _built debug)" testing/hermes/stops.sh {{ ARGS }}

# Call every MCP tool of the desk twice with a third-party client. Budget: 1 minute.
mcp: _world
    NIGHTDESK_BIN="$(just _built debug)" testing/mcp/client.sh

# Test the client for skillscript's runtime. Budget: 1 minute.
skillscript:
    clients/skillscript/test.sh

# Check and test the SDKs for Python and TypeScript and the adapter for the Chat SDK, also against the real desk. Budget: 6 minutes.
clients: _world
    NIGHTDESK_BIN="$(just _built debug)" clients/python/test.sh
    NIGHTDESK_BIN="$(just _built debug)" clients/typescript/test.sh
    NIGHTDESK_BIN="$(just _built debug)" clients/chat-adapter/test.sh

# Run agents of every SDK and transport through `nightdesk conformance agent`, and agents with planted faults; ARGS as in testing/agents/README.md. Budget: 30 minutes.
agents *ARGS: _world
    NIGHTDESK_BIN="$(just _built debug)" RUST_ECHO="$(dirname "$(just _built debug)")/examples/steady_echo" \
        testing/agents/agents.sh {{ ARGS }}

# Verify valid and forged fire tokens with the SDK and with the stock client's verifier. Budget: 1 minute.
fire-tokens *ARGS: _world
    cargo nextest run {{ whole }} {{ no_loom }} --lib \
        -E 'package(nightdesk-sdk) & test(/^cron::(token|tests::refusing)::/)'
    NIGHTDESK_BIN="$(just _built debug)" testing/hermes/fire.sh {{ ARGS }}

# Check the fake Telegram with a third-party client, and the adapter with a third-party fake.
telegram-others:
    cargo build --locked -p nightdesk-fake-telegram --examples
    testing/telegram/others.sh

# Prove every platform: its events, its operations, its faults. Budget: 3 minutes.
platforms:
    testing/platforms.sh {{ whole }}

# Check the fake Discord with a third-party client.
discord-others *ARGS:
    cargo build --locked -p nightdesk-fake-discord --example fake-discord
    testing/discord/client.sh {{ ARGS }}

# Answer messages to the bot of TELEGRAM_TOKEN and TELEGRAM_HANDLE on Telegram itself, until Ctrl-C.
live-telegram:
    cargo build --locked -p nightdesk-fake-telegram --example telegram-echo
    printenv TELEGRAM_TOKEN | "${CARGO_TARGET_DIR:-target}/debug/examples/telegram-echo" https://api.telegram.org "$TELEGRAM_HANDLE"

# Answer messages to the bot of DISCORD_TOKEN on Discord itself, until Ctrl-C.
live-discord:
    cargo build --locked -p nightdesk-fake-discord --example discord-echo
    printenv DISCORD_TOKEN | "${CARGO_TARGET_DIR:-target}/debug/examples/discord-echo"

# Simulate a cell with 500 seeds, or with the given one. Budget: 4 minutes on two cores.
sim *ARGS: _simulation
    {{ sim_target }}/sim/nightdesk-sim {{ ARGS }}

# Build the simulation with tokio's unstable parts, so that the choices of `select!` follow from the seed.
_simulation:
    RUSTFLAGS="--cfg tokio_unstable" CARGO_TARGET_DIR={{ sim_target }} \
        cargo build --locked --profile sim -p nightdesk-sim

# Fuzz every input of strangers, or one, for SECONDS each: `just fuzz tenant-url 600`. Budget: 10 minutes, and the build.
fuzz TARGET="all" SECONDS="60": _fuzzer
    fuzz/run.sh {{ fuzz_target }}/x86_64-unknown-linux-gnu/fuzz/nightdesk-fuzz {{ TARGET }} {{ SECONDS }}

# Build the fuzzer. With --target, only the targets have the coverage passes, not their build scripts.
_fuzzer:
    RUSTFLAGS="{{ coverage }}" CARGO_TARGET_DIR={{ fuzz_target }} \
        cargo build --locked --profile fuzz --target x86_64-unknown-linux-gnu -p nightdesk-fuzz --features run

# Check the web chat in a real Chromium; the screenshots go to FOLDER.
webchat-look FOLDER="target/webchat-look" *ARGS: _world
    NIGHTDESK_BIN="$(just _built debug)" testing/browser/look.sh {{ FOLDER }} {{ ARGS }}

# Call every route of users as each role and as a stranger, and log in at a certified and at a hostile provider. Budget: 5 minutes.
office: _world
    mkdir -p target && rm -f target/office-cases
    NIGHTDESK_OFFICE_CASES="$PWD/target/office-cases" \
        cargo nextest run {{ whole }} --no-fail-fast --test street -E 'test(/^office::/)' \
        || echo "0 0 1" >> target/office-cases
    NIGHTDESK_BIN="$(just _built debug)" testing/office/office.sh target/office-cases

# Look at every page of the dashboard in a real browser, on a desk with faults; screenshots in FOLDER. Budget: 10 minutes.
office-look FOLDER="target/office-look": _world
    NIGHTDESK_BIN="$(just _built debug)" testing/office-look/office-look.sh {{ FOLDER }}

# Play a new operator, who connects a bot, finds a stuck message and delivers it again by clicks alone. Budget: 3 minutes.
office-story: _world
    NIGHTDESK_BIN="$(just _built debug)" testing/office-story/office-story.sh

# Plant fifteen mistakes of operators into a right desk: `nightdesk doctor` names each, and nothing else. Budget: 5 minutes.
doctor: _world
    NIGHTDESK_BIN="$(just _built debug)" testing/doctor/doctor.sh

# Cause each kind of alert on a real desk: it arrives by webhook, mail, chat and metric, and is resolved. Budget: 15 minutes.
alerts: _world
    NIGHTDESK_BIN="$(just _built debug)" testing/alerts/alerts.sh

# Run the README's quick start verbatim on a bare machine, up to an answer in Chromium.
quickstart:
    python3 testing/quickstart/quickstart.py

# Follow docs/first-agent.md word for word: four kinds of agents answer in Chromium after they slept. Budget: 5 minutes.
first-agent: _world
    NIGHTDESK_BIN="$(just _built debug)" testing/first-agent/first-agent.sh

# Measure the cost of ten thousand idle lines for the desk and PostgreSQL.
idle-lines *ARGS: _proofs
    NIGHTDESK_BIN="$(just _built release)" "$(dirname "$(just _built release)")/idle-lines" {{ ARGS }}

# Measure the cost of sleeping agents: bytes in PostgreSQL, and no sockets.
sleepers *ARGS: _proofs
    NIGHTDESK_BIN="$(just _built release)" "$(dirname "$(just _built release)")/sleepers" {{ ARGS }}

# Measure accept, delivery and ack on three nodes beside the same writes in bare PostgreSQL; `--nodes 1` for one node.
road-rate *ARGS: _proofs
    NIGHTDESK_BIN="$(just _built release)" "$(dirname "$(just _built release)")/road-rate" {{ ARGS }}

# Measure the road beside a desk that does not seal messages, in alternating turns. The last line has both sides' medians
# and their ratio.
sealing-cost TURNS="7" *ARGS: _proofs
    cargo xtask unsealed {{ unsealed_target }}/tree
    CARGO_TARGET_DIR={{ unsealed_target }} cargo build --manifest-path {{ unsealed_target }}/tree/Cargo.toml --locked \
        --release -p nightdesk --features scripted -p nightdesk-prove
    testing/old-beside-new.py {{ unsealed_target }}/release "$(dirname "$(just _built release)")" {{ TURNS }} road-rate {{ ARGS }}

# Measure every page of the dashboard with 100,000 agents and 1,000,000 entries, and the road beside 50 open dashboards. Budget: 20 minutes.
office-load *ARGS: _proofs
    NIGHTDESK_BIN="$(just _built release)" "$(dirname "$(just _built release)")/office-load" {{ ARGS }}

# Measure accept, delivery and ack of letters beside platform events in the same run.
letters-rate *ARGS: _proofs
    NIGHTDESK_BIN="$(just _built release)" "$(dirname "$(just _built release)")/letters-rate" {{ ARGS }}

# Measure the time until a sleeping agent is called and has its entry, beside a plain GET and a bare line.
wake-latency *ARGS: _proofs
    NIGHTDESK_BIN="$(just _built release)" "$(dirname "$(just _built release)")/wake-latency" {{ ARGS }}

# Measure an older release build beside today's in alternating turns: `just old-beside-new OLD_FOLDER 7 road-rate --nodes 1`.
old-beside-new OLD TURNS PROOF *ARGS: _proofs
    testing/old-beside-new.py {{ OLD }} "$(dirname "$(just _built release)")" {{ TURNS }} {{ PROOF }} {{ ARGS }}

# Arm a million jobs, ten thousand due in one second: measure the delay, count early, missed and double fires, time the claim.
cron-load *ARGS: _proofs
    NIGHTDESK_BIN="$(just _built release)" "$(dirname "$(just _built release)")/cron-load" {{ ARGS }}

# Kill a desk with ten thousand lines and restart it: all lines must return, and no event may be lost.
herd *ARGS: _proofs
    NIGHTDESK_BIN="$(just _built release)" "$(dirname "$(just _built release)")/herd" {{ ARGS }}

# Exceed one tenant's rate limit fiftyfold: other tenants must not be slower.
noisy *ARGS: _proofs
    NIGHTDESK_BIN="$(just _built release)" "$(dirname "$(just _built release)")/noisy" {{ ARGS }}

# Flood the desk with 20,000 forged dials and as many unknown webhooks: genuine ones from the same address must not suffer. Budget: 3 minutes.
starve *ARGS: _proofs
    NIGHTDESK_BIN="$(just _built release)" "$(dirname "$(just _built release)")/starve" {{ ARGS }}

# Measure the delay when a hint between two nodes is lost undetected.
lost-hint *ARGS: _world
    NIGHTDESK_BIN="$(just _built debug)" "$(dirname "$(just _built debug)")/lost-hint" {{ ARGS }}

# Print the predictions of the desk's models for herds and hot tenants (docs/scale.md).
scale-model: _world
    "$(dirname "$(just _built debug)")/scale-model"

# Run every store's conformance suite, and run the suites on stores with planted faults.
conformance: _world
    "$(dirname "$(just _built debug)")/conformance"

# Run two releases side by side while the database is migrated: no event may be lost.
rolling-upgrade *ARGS: _world
    NIGHTDESK_BIN="$(just _built debug)" "$(dirname "$(just _built debug)")/rolling-upgrade" {{ ARGS }}

# Measure the judge's time and memory for a long history.
judge-rate *ARGS:
    cargo build --locked --release -p nightdesk-judge
    "$(dirname "$(just _built release)")/judge-rate" {{ ARGS }}

# Replace every kind of key under load, and search logs and tables for each. Budget: 4 minutes.
secrets *ARGS: _world
    NIGHTDESK_BIN="$(just _built debug)" "$(dirname "$(just _built debug)")/secrets" {{ ARGS }}

# Replace the certificate of a desk under load: no dial may fail, and no line may end. Budget: 2 minutes.
tls *ARGS: _world
    NIGHTDESK_BIN="$(just _built debug)" "$(dirname "$(just _built debug)")/tls" {{ ARGS }}

# Count the gate's decisions and admissions while bindings and grants change. Budget: 90 seconds.
gate-rate *ARGS: _world
    NIGHTDESK_BIN="$(just _built debug)" "$(dirname "$(just _built debug)")/gate-rate" {{ ARGS }}

# Request other tenants' data on every route, and share rooms and bots among tenants: nothing may cross. Budget: 6 minutes.
isolation *ARGS: _world
    mkdir -p target && rm -f target/isolation-cases
    NIGHTDESK_CASES="$PWD/target/isolation-cases" \
        cargo nextest run {{ whole }} --no-fail-fast --test street -E 'test(/^isolation::/)' || true
    NIGHTDESK_BIN="$(just _built debug)" "$(dirname "$(just _built debug)")/isolation" \
        --cases target/isolation-cases {{ ARGS }}

# Inject every quick fault into three nodes, one after the other, and judge. Budget: 8 minutes.
chaos-smoke *ARGS: _world
    NIGHTDESK_BIN="$(just _built debug)" "$(dirname "$(just _built debug)")/prove-run" \
        --name chaos-smoke --faults quick --faults-min 42 --transports-min 4 --nodes 3 --redis --street 30 --jobs 40 --letters 24 \
        --floods 2 --seconds 240 --rate 180 --events-min 50000 {{ ARGS }}

# Kill PostgreSQL under load and promote its standby by the commands of docs/failover.md, ten times: a synchronous one
# loses nothing, and of one that lags the nodes store again what it lacks. Budget: 10 minutes.
failover *ARGS: _world
    NIGHTDESK_BIN="$(just _built debug)" "$(dirname "$(just _built debug)")/failover" {{ ARGS }}

# Restore PostgreSQL to ten minutes ago under load, by the commands of docs/restore.md: later events arrive, and earlier
# acknowledgements do not count. `--minutes 2` goes back less. Budget: 15 minutes.
restore *ARGS: _world
    NIGHTDESK_BIN="$(just _built debug)" "$(dirname "$(just _built debug)")/restore" {{ ARGS }}

# Run three nodes for an hour under a random fault every twenty seconds: nothing may be lost, and no node's memory may grow.
# A run of less than an hour (`--minutes 10`) does not judge the memory.
soak *ARGS: _world
    NIGHTDESK_BIN="$(just _built debug)" "$(dirname "$(just _built debug)")/soak" {{ ARGS }}

# Kill the Discord owner twenty times under load: another node must resume, and no event may be lost. Budget: 7 minutes.
owner-kill *ARGS: _world
    NIGHTDESK_BIN="$(just _built debug)" "$(dirname "$(just _built debug)")/owner-kill" {{ ARGS }}

# Run `owner-kill` with ten kills, some of each kind.
owner-kill-smoke: _world
    NIGHTDESK_BIN="$(just _built debug)" "$(dirname "$(just _built debug)")/owner-kill" --kills 10

# Inject all faults in random order, and then random ones until the time is over: `just chaos SEED=7 MINUTES=30`. Without
# SEED, a random one is chosen and printed. Budget: 15 minutes.
chaos *SETTINGS: _world
    NIGHTDESK_BIN="$(just _built debug)" PROVE="$(dirname "$(just _built debug)")/prove-run" \
        env {{ SETTINGS }} bash -c '"$PROVE" --name chaos --faults all --faults-min 48 --transports-min 4 --at-random --redis --street 30 \
        --jobs 40 --letters 24 --floods 2 --rate 180 --seed "${SEED:-$RANDOM}" --seconds "$((${MINUTES:-5} * 60))" \
        --nodes "${NODES:-3}"'

# Run each mutant of testing/mutants: the judge must find its bug, and must find nothing without it.
mutants-of-the-desk *ARGS: _mutants
    NIGHTDESK_BIN="$(realpath {{ mutants_target }}/debug/nightdesk)" \
        NIGHTDESK_SIM_BIN={{ mutants_target }}/sim/sim/nightdesk-sim \
        {{ mutants_target }}/debug/mutants-of-the-desk {{ ARGS }}

# Run proofs and tests that have a judgement of their own with mutants that they must detect. Budget: 25 minutes.
mutants-of-the-proofs: _mutants
    cargo xtask with-servers --redis -- testing/mutants/proofs.sh "$(realpath {{ mutants_target }})" {{ whole }}

# Build the tree with all mutants, once as a debug build and once as a simulation.
_mutants:
    cargo xtask mutants copy {{ mutants_tree }}
    CARGO_TARGET_DIR={{ mutants_target }} cargo build --manifest-path {{ mutants_tree }}/Cargo.toml {{ world }}
    RUSTFLAGS="--cfg tokio_unstable" CARGO_TARGET_DIR={{ mutants_target }}/sim \
        cargo build --manifest-path {{ mutants_tree }}/Cargo.toml --locked --profile sim -p nightdesk-sim

# Build the binaries for proofs with a debug build.
_world:
    cargo build {{ world }}

_proofs:
    cargo build --locked --release -p nightdesk --features scripted -p nightdesk-prove

# Build the release binary without symbols into FOLDER, with its symbols (a debugger finds them) and its SBOM beside it.
release FOLDER="target/dist":
    cargo auditable build --locked --release -p nightdesk
    mkdir -p {{ FOLDER }}
    objcopy --only-keep-debug "$(just _built release)" {{ FOLDER }}/nightdesk.debug
    cd {{ FOLDER }} && objcopy --strip-all --add-gnu-debuglink=nightdesk.debug "$(just _built release)" nightdesk
    auditable2cdx {{ FOLDER }}/nightdesk > {{ FOLDER }}/nightdesk.cdx.json
    cargo xtask sbom {{ FOLDER }}/nightdesk.cdx.json nightdesk
    cd {{ FOLDER }} && echo "release: binary_mb=$(($(stat -c %s nightdesk) >> 20)) symbols_mb=$(($(stat -c %s nightdesk.debug) >> 20))"

# Print the path of the binary of a profile.
_built profile:
    @echo "${CARGO_TARGET_DIR:-target}/{{ profile }}/nightdesk" | xargs realpath

# Write the generated files: schema.sql and .sqlx from the migrations, docs/openapi.json from the routes, docs/frames.schema.json from the frames, and test vectors.
gen:
    cargo xtask schema
    cargo xtask sqlx
    cargo build {{ whole }} --example openapi
    "$(dirname "$(just _built debug)")/examples/openapi" > docs/openapi.json
    cargo build {{ whole }} --example frame_schemas
    "$(dirname "$(just _built debug)")/examples/frame_schemas" > docs/frames.schema.json
    cargo build {{ whole }} --example vectors
    "$(dirname "$(just _built debug)")/examples/vectors" crates/protocol/tests/vectors

# Write the test vectors of fire tokens with new keys, after a change to their table.
gen-fire-tokens:
    cargo build {{ whole }} --example fire-vectors
    "$(dirname "$(just _built debug)")/examples/fire-vectors" > crates/protocol/tests/vectors/fire_tokens.json

# Compare the files generated from the migrations with the checked-in ones; a test compares the rest.
gen-check:
    cargo xtask schema --check
    cargo xtask sqlx --check

# Unpack the advisory database where cargo-deny looks for it, and check its age.
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
    bash .ci/advisory-age data/rustsec-advisory-db.date {{ advisories }}

# Replace the committed copy of the advisory database by today's. A bundle needs a whole history: one commit.
renew-advisories DATABASE=advisories:
    #!/usr/bin/env bash
    set -euo pipefail
    clone=$(mktemp -d)
    trap 'rm -rf "$clone"' EXIT
    git clone -q --depth 1 {{ DATABASE }} "$clone"
    upstream=$(git -C "$clone" log -1 --format='%h of %cs')
    commit=$(git -C "$clone" commit-tree -m "RustSec advisory database at $upstream" 'HEAD^{tree}')
    git -C "$clone" update-ref refs/heads/main "$commit"
    git -C "$clone" bundle create -q "$PWD/data/rustsec-advisory-db.bundle" refs/heads/main
    date -u +%F > data/rustsec-advisory-db.date
    echo "renew-advisories: upstream=${upstream%% *} taken=$(cat data/rustsec-advisory-db.date)"
