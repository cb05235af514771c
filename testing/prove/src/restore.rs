//! Restores PostgreSQL to an earlier point in time under load, by the commands of `docs/restore.md`.

mod tally;

use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use nightdesk_judge::{Event, Verdict, judge, monotonic_ns};
use nightdesk_types::Incarnation;

pub use tally::{RestoreMoments, RestoreTally};

use crate::chaos::manner::Manners;
use crate::chaos::mutation::Mutation;
use crate::chaos::node::complete_command;
use crate::chaos::plan::Scale;
use crate::chaos::platform::Order as PlatformOrder;
use crate::chaos::run::{come_to_rest, dial_in, make_folder};
use crate::chaos::world::{Design, World};
use crate::runbook::{self, ServerCommand, Step};
use crate::stage::DATABASE;
use crate::ui;

/// The number of the fault in the list of promises.
const NUMBER: &str = "F22";

/// Time of load before the base backup, between it and the target, and after the restore.
const WARM: Duration = Duration::from_secs(5);
const AFTER: Duration = Duration::from_secs(45);

/// Maximum time until the world is idle.
const PATIENCE: Duration = Duration::from_mins(5);

/// Time limit for the nodes to recognise the restored database.
const RECOGNISED_WITHIN: Duration = Duration::from_mins(1);

/// Polling interval.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Options of a run.
#[derive(Clone, Debug)]
pub struct RestoreOptions {
    /// Seed from which the load follows.
    pub seed: u64,
    /// The age of the point in time to which the database is restored.
    pub back: Duration,
    /// Events per second that the platform sends.
    pub rate_per_s: u64,
    /// Path of the desk's binary.
    pub desk: PathBuf,
    /// Folder in which the folder of the run is created.
    pub folder: PathBuf,
}

/// The outcome of a run.
#[derive(Debug)]
pub struct RestoreOutcome {
    /// Folder of its histories.
    pub folder: PathBuf,
    /// The judge's verdict.
    pub verdict: Verdict,
    /// The counts that the judge does not make.
    pub tally: RestoreTally,
}

/// Runs a world, restores its database, and judges it.
pub fn run(options: &RestoreOptions) -> Result<RestoreOutcome> {
    let folder = make_folder(&options.folder, options.seed)?;
    let moments = play(options, &folder)
        .with_context(|| format!("the histories so far are in {}", folder.display()))?;
    ui::say("judging");
    let verdict = judge(&folder).with_context(|| format!("no verdict on {}", folder.display()))?;
    let tally = tally::read(&folder, moments)?;
    Ok(RestoreOutcome { folder, verdict, tally })
}

fn play(options: &RestoreOptions, folder: &Path) -> Result<RestoreMoments> {
    let world = World::set(&design(options, folder))?;
    let mut drill = Drill::new(world);
    drill.world.note(Event::Begin { seed: options.seed, faults: true });
    drill.follow("Archive the log")?;
    dial_in(&mut drill.world)?;
    drill.world.platform(&PlatformOrder::Begin)?;
    thread::sleep(WARM);
    drill.follow("Take a base backup")?;
    thread::sleep(WARM);
    drill.set_target()?;
    ui::say(&format!("{} s of load that the restore takes away", options.back.as_secs()));
    thread::sleep(options.back);
    let moments = drill.restore()?;
    drill.follow("Check")?;
    thread::sleep(AFTER);
    come_to_rest(&mut drill.world, PATIENCE)?;
    drill.world.end()?;
    Ok(moments)
}

fn design<'a>(options: &'a RestoreOptions, folder: &Path) -> Design<'a> {
    Design {
        seed: options.seed,
        desk: &options.desk,
        nodes: 3,
        redis: true,
        scale: Scale {
            agents: 60,
            authors: 16,
            floods: 0,
            rate_per_s: options.rate_per_s,
            looks_percent: 1,
            // A revocation of access, a job and a letter are commits too, and are taken away.
            rooms: 0,
            jobs: 0,
            letters: 0,
            calls_per_second: None,
        },
        street: None,
        manners: Manners::Polite,
        odd_targets: false,
        mutation: Mutation::Nothing,
        folder: folder.to_owned(),
    }
}

/// The operator of the page.
struct Drill {
    world: World,
    /// The values of the page's variables.
    variables: Vec<(&'static str, String)>,
    /// The time of the last start of the server.
    started_ns: u64,
}

impl Drill {
    fn new(world: World) -> Self {
        let data = world.cluster.data_dir();
        let beside = |name: &str| data.with_file_name(name).display().to_string();
        let variables = vec![
            ("ADMIN_URL", world.cluster.admin_url("postgres")),
            ("ARCHIVE", beside("archive")),
            ("BACKUP", beside("backup")),
            ("DATA", data.display().to_string()),
        ];
        Self { world, variables, started_ns: monotonic_ns() }
    }

    /// Runs a section of the page.
    fn follow(&mut self, heading: &str) -> Result<()> {
        ui::say(&format!("docs/restore.md: {heading}"));
        for step in runbook::steps(runbook::RESTORE, heading)? {
            self.take(step).with_context(|| format!("docs/restore.md: {heading}"))?;
        }
        Ok(())
    }

    fn take(&mut self, step: Step) -> Result<()> {
        match step {
            Step::Shell(lines) => self.world.cluster.run_lines(&lines, &self.variables).map(drop),
            Step::Server(command) => {
                if command != ServerCommand::Stop {
                    self.started_ns = monotonic_ns();
                }
                self.world.cluster.obey(command)
            }
            Step::Desk(words) => {
                let words: Vec<&str> = words.iter().map(String::as_str).collect();
                let told = complete_command(&self.world.nodes, &words)?;
                ui::say(told.trim_end());
                Ok(())
            }
        }
    }

    /// Sets the point in time of the restore to now.
    fn set_target(&mut self) -> Result<()> {
        let now = self.world.cluster.ask(DATABASE, "select clock_timestamp()")?;
        self.variables.push(("TARGET", now.trim().to_owned()));
        Ok(())
    }

    /// Restores the database, and waits until the nodes recognise it.
    fn restore(&mut self) -> Result<RestoreMoments> {
        let before = self.incarnation()?;
        let strike = self.world.strikes(NUMBER, "postgres");
        self.follow("Restore")?;
        let deadline = Instant::now() + RECOGNISED_WITHIN;
        while self.incarnation()? == before {
            ensure!(Instant::now() < deadline, "no node recognised that the database was restored");
            thread::sleep(LOOK_EVERY);
        }
        let incarnation = self.incarnation()?;
        self.world.healed(strike);
        Ok(RestoreMoments { started_ns: self.started_ns, incarnation })
    }

    fn incarnation(&self) -> Result<Incarnation> {
        let read = self.world.cluster.ask(DATABASE, "select incarnation from history")?;
        Ok(Incarnation::new(read.trim().parse().context("could not read the incarnation")?))
    }
}
