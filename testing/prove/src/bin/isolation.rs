//! Proves isolation: three nodes under a mixed load, most of it from rooms that people of five or more tenants share.
//! No event may reach an agent it is not for. Beside it, tenants use a Discord and a Telegram. A separate test calls
//! every route without a token and with foreign tenants' tokens, and its counts are added here.

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
use nightdesk_prove::chaos::run::{self, Options, Outcome, run};
use nightdesk_prove::ui;
use nightdesk_prove::walls::{self, Tally};
use nightdesk_prove::worker::{self, Work};

/// Size of the world. There are so many rooms that most events come from them.
const SCALE: Scale = Scale {
    agents: 60,
    authors: 2,
    floods: 0,
    rate_per_s: 240,
    looks_percent: 0,
    rooms: 45,
    jobs: 0,
    letters: 24,
    calls_per_second: None,
};

/// Number of nodes.
const NODES: usize = 3;

/// Time limit for the world to become idle. With a mutant it may never become idle.
const PATIENCE: Duration = Duration::from_mins(1);
const PATIENCE_WITH_A_BUG: Duration = Duration::from_secs(12);

/// Proves that no data crosses from one tenant to another.
#[derive(Debug, Parser)]
struct Arguments {
    #[command(subcommand)]
    work: Option<Work>,

    /// Seed from which the whole run follows.
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// Seconds for which events are sent.
    #[arg(long, default_value_t = 180)]
    seconds: u64,

    /// Rounds in which every author writes on Discord and Telegram, beside the load.
    #[arg(long, default_value_t = 12)]
    rounds: usize,

    /// File with the counts of cases and failures that the test of all routes wrote.
    #[arg(long)]
    cases: Option<PathBuf>,

    /// Number of the bug to plant, which the proof must detect. It needs the mutated build.
    #[arg(long)]
    mutant: Option<String>,

    /// Folder in which the folder of the run is created.
    #[arg(long, default_value = "target/chaos")]
    folder: PathBuf,

    /// Path of the desk's binary, built with the features `scripted` and `failpoints`.
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
            both.spawn(|| walls::prove(&arguments.desk, arguments.rounds, options.mutation));
        let outcome = run(&options);
        let platforms = platforms.join().map_err(|_| anyhow::anyhow!("the platforms panicked"))?;
        anyhow::Ok((platforms?, outcome?))
    })?;
    let Outcome { folder, verdict, events, shared, .. } = &outcome;
    for violation in &verdict.violations {
        ui::say(&violation.to_string());
    }
    let Tally { told, said, meddled, edited, late, lost, .. } = platforms;
    ui::put(&format!(
        "platforms: told={told} said={said} late={late} lost={lost} meddled={meddled} \
         edited={edited} crossed={}",
        platforms.crossed
    ));
    let crossed = verdict.count(Invariant::NoMisdelivery) + verdict.count(Invariant::Capability);
    let crossed = crossed + platforms.crossed;
    let Verdict { followed_up, letters, exchanges, shelved, refused, .. } = verdict;
    ui::put(&format!("load: shared={shared} followed_up={followed_up} refused={refused}"));
    ui::put(&format!(
        "isolation: cases={cases} wrong={wrong} load_events={events} crossed={crossed} \
         missing={lost} letters={letters} exchanges={exchanges} shelf={shelved}"
    ));
    ensure!(
        platforms.crossed == 0 && lost == 0,
        "something crossed on the platforms, or was lost; the lines above name it"
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
        patience: if arguments.mutant.is_some() { PATIENCE_WITH_A_BUG } else { PATIENCE },
        mutation: mutants::mutation(arguments.mutant.as_deref())?,
        desk: arguments.desk.clone(),
        folder: arguments.folder.clone(),
    })
}

/// Sums the lines of a file. Each line has the cases of one test, and its failures.
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
