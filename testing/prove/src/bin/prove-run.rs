//! Runs a world under faults, and prints the judge's verdict on its histories.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Result, ensure};
use clap::Parser;
use nightdesk_judge::Invariant;
use nightdesk_prove::chaos::faults::Wanted;
use nightdesk_prove::chaos::mutants;
use nightdesk_prove::chaos::plan::Scale;
use nightdesk_prove::chaos::run::{self, Options, Outcome, run};
use nightdesk_prove::chaos::street::Rates;
use nightdesk_prove::ui;
use nightdesk_prove::worker::{self, Work};

/// Maximum number of lines shown of a verdict.
const SHOWN_MAX: usize = 12;

/// Runs a world under faults and judges its histories.
#[derive(Debug, Parser)]
struct Arguments {
    #[command(subcommand)]
    work: Option<Work>,

    /// Seed from which the whole run follows.
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// Minimum seconds for which events are sent.
    #[arg(long, default_value_t = 20)]
    seconds: u64,

    /// `none`, `all`, `quick`, or numbers separated by commas.
    #[arg(long, default_value = "none")]
    faults: String,

    /// Injects the faults in random order, and then random ones until the time is over.
    #[arg(long)]
    at_random: bool,

    /// Number of the bug to plant. It needs the mutated build.
    #[arg(long)]
    mutant: Option<String>,

    /// Number of nodes.
    #[arg(long, default_value_t = 1)]
    nodes: usize,

    /// Starts a Redis as the bell between the nodes.
    #[arg(long)]
    redis: bool,

    /// Number of agents.
    #[arg(long, default_value_t = 100)]
    agents: usize,

    /// Number of authors that write to each agent alone.
    #[arg(long, default_value_t = 16)]
    authors: usize,

    /// Number of authors that write far more than the rate limit.
    #[arg(long, default_value_t = 0)]
    floods: usize,

    /// Number of rooms that people of several tenants share.
    #[arg(long, default_value_t = 5)]
    rooms: usize,

    /// Number of agents that have jobs.
    #[arg(long, default_value_t = 0)]
    jobs: usize,

    /// Number of agents that write letters and share a shelf.
    #[arg(long, default_value_t = 0)]
    letters: usize,

    /// Messages per second that people write on Discord, and as many on Telegram.
    #[arg(long, default_value_t = 0)]
    street: u64,

    /// Events per second that the platform sends, if the desk accepts them.
    #[arg(long, default_value_t = 300)]
    rate: u64,

    /// Percentage of acks after which the platform looks up the event in the database.
    #[arg(long, default_value_t = 1)]
    looks: u64,

    /// Maximum seconds until the world is idle.
    #[arg(long, default_value_t = 100)]
    patience: u64,

    /// Minimum number of accepted events, or the run proves too little. Sending continues for a while to reach it.
    #[arg(long, default_value_t = 1)]
    events_min: u64,

    /// Minimum number of different faults, or the run proves too little.
    #[arg(long, default_value_t = 0)]
    faults_min: usize,

    /// Minimum number of different transports of agents' lines, or the run proves too little.
    #[arg(long, default_value_t = 0)]
    transports_min: usize,

    /// Name at the beginning of the last line.
    #[arg(long, default_value = "prove-run")]
    name: String,

    /// Keeps the histories of a clean run, too.
    #[arg(long)]
    keep: bool,

    /// Folder in which the folder of the run is created.
    #[arg(long, default_value = "target/chaos")]
    folder: PathBuf,

    /// Path of the desk's binary, built with the features `scripted` and `failpoints`.
    #[arg(long, env = "NIGHTDESK_BIN", default_value = "target/debug/nightdesk")]
    desk: PathBuf,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    worker::run(&arguments.name, arguments.work.as_ref(), || prove(&arguments))
}

fn prove(arguments: &Arguments) -> Result<()> {
    let options = options(arguments)?;
    ui::say(&format!("seed {}", arguments.seed));
    let outcome = run(&options)?;
    tell(&outcome);
    ui::put(&last_line(&arguments.name, &outcome));
    let Outcome { folder, verdict, events, .. } = &outcome;
    ensure!(
        verdict.counts.is_empty(),
        "promises were broken ({}); the histories are in {}",
        mutants::broken(&outcome).join(" "),
        folder.display()
    );
    if !arguments.keep {
        std::fs::remove_dir_all(folder)?;
    }
    ensure!(*events >= arguments.events_min, "only {events} events were taken");
    let faults = injected(&outcome);
    ensure!(faults >= arguments.faults_min, "only {faults} different faults were injected");
    ensure!(verdict.fires > 0 || arguments.jobs == 0, "no fire was taken");
    let transports = outcome.transports.len();
    ensure!(transports >= arguments.transports_min, "the lines used only {transports} transports");
    if arguments.letters > 0 {
        run::mixed(verdict)?;
    }
    Ok(())
}

fn options(arguments: &Arguments) -> Result<Options> {
    Ok(Options {
        seed: arguments.seed,
        lasts: Duration::from_secs(arguments.seconds),
        events_min: arguments.events_min,
        wanted: Wanted::read(&arguments.faults)?,
        at_random: arguments.at_random,
        nodes: arguments.nodes,
        redis: arguments.redis,
        scale: Scale {
            agents: arguments.agents,
            authors: arguments.authors,
            floods: arguments.floods,
            rate_per_s: arguments.rate,
            looks_percent: arguments.looks,
            rooms: arguments.rooms,
            jobs: arguments.jobs,
            letters: arguments.letters,
            calls_per_second: None,
        },
        street: (arguments.street > 0)
            .then_some(Rates { discord: arguments.street, telegram: arguments.street }),
        patience: Duration::from_secs(arguments.patience),
        mutation: mutants::mutation(arguments.mutant.as_deref())?,
        desk: arguments.desk.clone(),
        folder: Path::new(&arguments.folder).to_owned(),
    })
}

fn tell(outcome: &Outcome) {
    for (number, hits) in &outcome.hits {
        ui::put(&format!("{number}: in_flight={hits}"));
    }
    if !outcome.impossible.is_empty() {
        ui::put(&format!("not possible here: {}", outcome.impossible.join(" ")));
    }
    let shown = outcome.verdict.violations.iter().take(SHOWN_MAX);
    shown.for_each(|violation| ui::put(&violation.to_string()));
    ui::put(&outcome.verdict.summary());
}

/// Returns the number of different faults that were injected.
fn injected(outcome: &Outcome) -> usize {
    outcome.hits.iter().map(|(number, _)| number).collect::<BTreeSet<_>>().len()
}

fn last_line(name: &str, outcome: &Outcome) -> String {
    let count = |invariant| outcome.verdict.count(invariant);
    let least = outcome.hits.iter().map(|(_, hits)| hits).min();
    let transports = outcome.transports.iter().map(|(name, agents)| format!(" {name}={agents}"));
    let transports: String = transports.collect();
    format!(
        "{name}: faults={} strikes={} events={} in_flight_hits_min={} lost={} doubled={} misdelivered={} \
         misordered={} fires={} letters={} exchanges={} shelf={} transports={}{transports}",
        injected(outcome),
        outcome.hits.len(),
        outcome.events,
        least.copied().unwrap_or_default(),
        count(Invariant::NoLoss),
        count(Invariant::NoDuplicate),
        count(Invariant::NoMisdelivery),
        count(Invariant::Order),
        outcome.verdict.fires,
        outcome.verdict.letters,
        outcome.verdict.exchanges,
        outcome.verdict.shelved,
        outcome.transports.len(),
    )
}
