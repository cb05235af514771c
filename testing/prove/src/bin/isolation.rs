//! Isolation: three nodes under a mixed load, most of it from rooms that people of five tenants or more
//! share, and nothing may reach an agent it is not for; and beside it, tenants on a Discord and a Telegram. What every route tells nobody and foreign
//! tenants is asked by a test, whose counts are put beside it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use clap::Parser;
use nightdesk_judge::{Invariant, Verdict};
use nightdesk_prove::chaos::faults::Wanted;
use nightdesk_prove::chaos::mutants;
use nightdesk_prove::chaos::plan::Scale;
use nightdesk_prove::chaos::run::{self, Options, Outcome, Planted, run};
use nightdesk_prove::ui;
use nightdesk_prove::walls::{self, Tally};
use nightdesk_prove::worker::{self, Work};

/// How big the world is. Rooms are so many that most events come from them.
const SCALE: Scale = Scale {
    agents: 60,
    rate_per_s: 240,
    looks_percent: 0,
    rooms: 45,
    jobs: 0,
    letters: 24,
    calls_per_second: None,
};

/// How many nodes.
const NODES: usize = 3;

/// How long it may take to come to rest. With a bug in it, it may never do so.
const PATIENCE: Duration = Duration::from_mins(1);
const PATIENCE_WITH_A_BUG: Duration = Duration::from_secs(12);

/// Proves that nothing crosses from one tenant to another.
#[derive(Debug, Parser)]
struct Arguments {
    #[command(subcommand)]
    work: Option<Work>,

    /// What everything else follows from.
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// For how long events are sent.
    #[arg(long, default_value_t = 180)]
    seconds: u64,

    /// How often everybody speaks on Discord and Telegram, beside the load.
    #[arg(long, default_value_t = 12)]
    rounds: usize,

    /// Where the test of all routes has written how many cases it asked, and how many were wrong.
    #[arg(long)]
    cases: Option<PathBuf>,

    /// Plant this bug in the desk: the proof must fail.
    #[arg(long)]
    planted: Option<String>,

    /// Where the folder of the run is made.
    #[arg(long, default_value = "target/chaos")]
    folder: PathBuf,

    /// The desk's binary, built with the features `scripted` and `planted`.
    #[arg(long, env = "NIGHTDESK_BIN", default_value = "target/debug/nightdesk")]
    desk: PathBuf,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    worker::run("isolation", arguments.work.as_ref(), || prove(&arguments))
}

fn prove(arguments: &Arguments) -> Result<()> {
    let (cases, wrong) = arguments.cases.as_deref().map_or(Ok((0, 0)), counted)?;
    let options = options(arguments)?;
    let (platforms, outcome) = thread::scope(|both| {
        let platforms =
            both.spawn(|| walls::prove(&arguments.desk, arguments.rounds, options.planted));
        let outcome = run(&options);
        let platforms = platforms.join().map_err(|_| anyhow::anyhow!("the platforms panicked"))?;
        anyhow::Ok((platforms?, outcome?))
    })?;
    let Outcome { folder, verdict, events, shared, .. } = &outcome;
    for violation in &verdict.violations {
        ui::say(&violation.to_string());
    }
    let Tally { told, said, missing, .. } = platforms;
    ui::put(&format!(
        "platforms: told={told} said={said} missing={missing} crossed={}",
        platforms.crossed
    ));
    let crossed = verdict.count(Invariant::NoMisdelivery) + verdict.count(Invariant::Capability);
    let crossed = crossed + platforms.crossed;
    let Verdict { followed_up, letters, exchanges, shelved, refused, .. } = verdict;
    ui::put(&format!("load: shared={shared} followed_up={followed_up} refused={refused}"));
    ui::put(&format!(
        "isolation: cases={cases} wrong={wrong} load_events={events} crossed={crossed} \
         letters={letters} exchanges={exchanges} shelf={shelved}"
    ));
    ensure!(
        platforms.crossed == 0 && missing == 0,
        "something crossed on the platforms, or was lost"
    );
    ensure!(wrong == 0, "{wrong} of {cases} cases were answered wrongly");
    ensure!(
        verdict.counts.is_empty(),
        "promises were broken ({}); the histories are in {}",
        mutants::broken(&outcome).join(" "),
        folder.display()
    );
    ensure!(2 * shared >= *events, "only {shared} of {events} events came from shared rooms");
    ensure!(*followed_up > 0, "nobody followed up on anything");
    ensure!(*refused > 0, "nobody tried to write where only one side granted it, or none");
    run::mixed(verdict)?;
    Ok(fs::remove_dir_all(folder)?)
}

fn options(arguments: &Arguments) -> Result<Options> {
    let planted = match &arguments.planted {
        Some(number) => mutants::wanted(number)?[0].planted()?,
        None => Planted::Nothing,
    };
    Ok(Options {
        seed: arguments.seed,
        lasts: Duration::from_secs(arguments.seconds),
        events_min: 1,
        wanted: Wanted::read("none")?,
        at_random: false,
        nodes: NODES,
        redis: true,
        scale: SCALE,
        street: None,
        patience: if arguments.planted.is_some() { PATIENCE_WITH_A_BUG } else { PATIENCE },
        planted,
        desk: arguments.desk.clone(),
        folder: arguments.folder.clone(),
    })
}

/// The sums of the lines of a file, each the cases that one test asked, and those that were wrong.
fn counted(file: &Path) -> Result<(u64, u64)> {
    let text = fs::read_to_string(file).context("the test of all routes has counted nothing")?;
    let mut sums = (0, 0);
    for line in text.lines() {
        let (cases, wrong) = line.split_once(' ').context("could not read a count of cases")?;
        sums = (sums.0 + cases.parse::<u64>()?, sums.1 + wrong.parse::<u64>()?);
    }
    ensure!(sums.0 > 0, "no case was asked");
    Ok(sums)
}
