//! Replays the seeds of every target and mutations of them. Unlike `just fuzz`, a replay is not guided by coverage.
#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a replay that cannot begin should stop, and its counts are its report"
)]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use nightdesk_fuzz::{Corpus, FuzzTarget, TARGETS};

/// Number from which all mutations follow.
const NUMBER: u64 = 0x6e69_6768_7464_6573;

/// Mutations of one target, unless the time is over before.
const MUTATIONS: usize = 50_000;

/// Time for the mutations of one target.
const REPLAY_MAX: Duration = Duration::from_secs(10);

/// Processor time that an input may take in a debug build.
const DEBUG_CPU_MAX: Duration = Duration::from_secs(1);

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

fn replay(name: &str) {
    let target = FuzzTarget::find(name).expect("the target exists");
    let dictionary = folder().join("dictionaries").join(format!("{name}.dict"));
    let corpus = Corpus::read(&folder().join("seeds").join(name), &dictionary);
    let (began, mut count) = (Instant::now(), 0);
    assert!(!corpus.seeds().is_empty(), "{name} has no seeds");
    for seed in corpus.seeds() {
        check(target, seed);
    }
    for input in corpus.mutations(NUMBER).take(MUTATIONS) {
        if began.elapsed() > REPLAY_MAX {
            break;
        }
        check(target, &input);
        count += 1;
    }
    println!("{name}: number={NUMBER:#x} seeds={} mutations={count}", corpus.seeds().len());
}

fn check(target: &FuzzTarget, input: &[u8]) {
    let checked = catch_unwind(AssertUnwindSafe(|| target.check(input, DEBUG_CPU_MAX)));
    assert!(checked.is_ok(), "{}: \"{}\"", target.name, input.escape_ascii());
}

macro_rules! replays {
    ($($name:ident = $target:literal;)+) => {
        $(
            #[test]
            fn $name() {
                replay($target);
            }
        )+

        /// The tests above, the table of targets and the folders of seeds name the same targets.
        #[test]
        fn every_target_has_seeds_and_is_replayed() {
            let mut replayed = [$($target),+].to_vec();
            let mut targets: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
            replayed.sort_unstable();
            targets.sort_unstable();
            assert_eq!(replayed, targets);
            let folders = std::fs::read_dir(folder().join("seeds")).expect("the seeds");
            let name = |entry: std::fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
            let mut folders: Vec<String> =
                folders.map(|entry| name(entry.expect("a folder"))).collect();
            folders.sort_unstable();
            assert_eq!(folders, targets);
        }
    };
}

replays! {
    discord_interaction = "discord-interaction";
    discord_gateway = "discord-gateway";
    upgrade_token = "upgrade-token";
    line_frames = "line-frames";
    telegram_update = "telegram-update";
    session_key = "session-key";
    manage_body = "manage-body";
    access_token = "access-token";
    schedule_body = "schedule-body";
    reach_policy = "reach-policy";
    tenant_url = "tenant-url";
    dns_answers = "dns-answers";
    bus_hint = "bus-hint";
    lease_row = "lease-row";
    vault_blob = "vault-blob";
    media_head = "media-head";
    http_request = "http-request";
    letter_address = "letter-address";
    history = "history";
}
