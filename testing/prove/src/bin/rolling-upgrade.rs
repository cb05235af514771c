//! Runs nodes of two releases side by side while the database is migrated.
//!
//! The next release is the same binary with further migrations, which it needs. Under load it migrates the database,
//! and a node of it starts beside nodes of the old release. Then entries are accepted on either release and handed over
//! on either, an old node is started again, and a binary that needs migrations which the database lacks is refused.

use std::fs;
use std::iter;
use std::path::PathBuf;
use std::process::ExitCode;
use std::slice;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail, ensure};
use clap::Parser;
use nightdesk_prove::desk::{Desk, Settings};
use nightdesk_prove::platform::Order;
use nightdesk_prove::setup::Size;
use nightdesk_prove::stage::{DATABASE, Stage};
use nightdesk_prove::worker::{self, Work, Worker};
use nightdesk_prove::{gateway, history, platform, ui};
use nightdesk_types::limits::SWEEP_EVERY;

/// Number of nodes of the old release.
const OLD_NODES: usize = 2;

/// Numbers of tenants and agents.
const SIZE: Size = Size::of(20, 300);

/// Connections that post the events.
const CONNECTIONS: u64 = 16;

/// Number of the second platform's first event.
const SECOND_EVENTS: u64 = 1_000_000_000;

/// Time limit for entries after the last post. It covers an entry whose hint was lost when its line moved.
const ARRIVED_WITHIN: Duration = SWEEP_EVERY.saturating_add(Duration::from_secs(10));

/// Polling interval.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Migrations of the next release, on tables that are in use, one table at a time.
const NEXT: [(&str, &str); 3] = [
    (
        "99990101000000_widen_heads.sql",
        "alter table inbox_heads add column of_the_next text not null default '';",
    ),
    ("99990101000100_widen_cursors.sql", "alter table inbox_cursors add column of_the_next text;"),
    (
        "99990101000200_create_of_the_next.sql",
        "create table of_the_next (tenant_id uuid not null primary key);",
    ),
];

/// Migrations of the release after that, which are never applied.
const AFTER_NEXT: [(&str, &str); 1] =
    [("99990102000000_create_more.sql", "create table more (tenant_id uuid not null);")];

/// Runs two releases side by side.
#[derive(Debug, Parser)]
struct Arguments {
    #[command(subcommand)]
    work: Option<Work>,

    /// Seconds for which events are posted in each part.
    #[arg(long, default_value_t = 4)]
    seconds: u64,

    /// Path of the desk's binary, built with the features `scripted` and `failpoints`.
    #[arg(long, env = "NIGHTDESK_BIN", default_value = "target/debug/nightdesk")]
    desk: PathBuf,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    worker::run("rolling-upgrade", arguments.work.as_ref(), || prove(&arguments))
}

fn prove(arguments: &Arguments) -> Result<()> {
    let mut stage = Stage::set_ringing(&arguments.desk, OLD_NODES, &SIZE, CONNECTIONS)?;
    stage.dial()?;
    let run = Order::Run(arguments.seconds * 1_000);

    ui::say("migrating and starting the next release under load");
    let (migrating, next) = upgrade_under_load(&mut stage, &run)?;
    stage.arrived(migrating)?;
    ui::say("posting to both releases; the lines are on the old one");
    let mut after = After::started(&stage, &next.node)?;
    let on_old = after.post(&run)?;
    stage.arrived(migrating + on_old)?;
    ui::say("posting to both; the lines are on the next one");
    after.dial(&stage, &next.node)?;
    let on_next = after.post(&run)? - on_old;
    after.arrived(on_next)?;
    ui::say("posting to both; the lines are on an old node that was started again");
    let again = started_again(stage.others.remove(0), &stage)?;
    after.dial(&stage, &again)?;
    let on_old_again = after.post(&run)? - on_old - on_next;
    after.arrived(on_next + on_old_again)?;
    refused(&stage)?;
    after.check_history(&mut stage)?;

    let migrate_ms = next.migrated_in.as_millis();
    ui::put(&format!(
        "rolling-upgrade: lost=0 doubled=0 migrating={migrating} on_old={on_old} \
         on_next={on_next} on_old_again={on_old_again} migrate_ms={migrate_ms}"
    ));
    Ok(())
}

/// The running node of the next release.
struct Next {
    node: Desk,
    migrated_in: Duration,
}

/// Returns the environment variable that makes the binary a later release with these migrations.
fn release(
    stage: &Stage,
    name: &str,
    migrations: &[(&str, &str)],
) -> Result<(&'static str, String)> {
    let folder = stage.cluster.folder().join(name);
    fs::create_dir(&folder).context("could not make a folder for a release")?;
    for (file, sql) in migrations {
        fs::write(folder.join(file), sql).context("could not write a migration")?;
    }
    Ok(("NIGHTDESK_NEXT_RELEASE", folder.display().to_string()))
}

/// Posts to the old nodes, and brings in the next release meanwhile.
fn upgrade_under_load(stage: &mut Stage, run: &Order) -> Result<(u64, Next)> {
    let (settings, release) = (stage.another("next")?, release(stage, "next", &NEXT)?);
    let is_in = AtomicBool::new(false);
    thread::scope(|scope| {
        let posting = scope.spawn(|| {
            stage.post(run)?;
            while !is_in.load(Ordering::Relaxed) {
                stage.post(run)?;
            }
            stage.post(run)
        });
        let next = upgrade(&settings, release);
        is_in.store(true, Ordering::Relaxed);
        let told = posting.join().map_err(|_| anyhow!("the one who posts panicked"))?;
        Ok((told?, next?))
    })
}

fn upgrade(settings: &Settings, release: (&str, String)) -> Result<Next> {
    let began = Instant::now();
    settings.migrate_with(slice::from_ref(&release))?;
    let migrated_in = began.elapsed();
    Ok(Next { node: settings.start_with(&[release])?, migrated_in })
}

/// Stops an old node, and starts it again on a database with newer migrations.
fn started_again(node: Desk, stage: &Stage) -> Result<Desk> {
    drop(node);
    let settings = stage.another("node-2")?;
    settings.migrate()?;
    settings.start()
}

/// Checks that a binary refuses to serve without the migrations it needs, and names the remedy.
fn refused(stage: &Stage) -> Result<()> {
    let release = release(stage, "after-next", &AFTER_NEXT)?;
    let Err(error) = stage.another("too-early")?.start_with(&[release]) else {
        bail!("a node serves without the tables it needs");
    };
    let said = format!("{error:#}");
    let wanted = ["it lacks 99990102000000_create_more", "run `nightdesk migrate`"];
    ensure!(wanted.iter().all(|part| said.contains(part)), "it does not say what to do: {said}");
    Ok(())
}

/// The platform and the gateways that use both releases.
struct After {
    platform: Worker,
    /// Each process holds all lines until the next one takes them over.
    gateways: Vec<Worker>,
}

impl After {
    /// Starts a platform that posts to an old node and to a node of the next release.
    fn started(stage: &Stage, next: &Desk) -> Result<Self> {
        let nodes = [stage.desk.address(), next.address()];
        let platform = stage.another_platform(&nodes, CONNECTIONS, SECOND_EVENTS)?;
        Ok(Self { platform, gateways: Vec::new() })
    }

    /// Posts. Returns the number of events that got a 200 so far.
    fn post(&mut self, order: &Order) -> Result<u64> {
        let told: platform::Told = self.platform.ask(order)?;
        Ok(told.told)
    }

    /// Moves every line to this node.
    fn dial(&mut self, stage: &Stage, node: &Desk) -> Result<()> {
        stage.settled()?;
        let mut gateways = stage.another_gateways(node.address())?;
        let _: gateway::Standing = gateways.ask(&gateway::Order::Dial)?;
        self.gateways.push(gateways);
        // A greeted line may not have taken over yet.
        let lines = self.gateways.len() + 1;
        let behind = format!("select count(*) from inbox_cursors where generation < {lines}");
        wait_until("lines did not move", || Ok(stage.cluster.ask(DATABASE, &behind)?.trim() == "0"))
    }

    /// Waits until this many entries were acked on the lines that moved.
    fn arrived(&mut self, told: u64) -> Result<()> {
        wait_until("entries did not arrive", || {
            let mut acked = 0;
            for gateways in &mut self.gateways {
                let standing: gateway::Standing = gateways.ask(&gateway::Order::Count)?;
                acked += standing.acked;
            }
            Ok(acked >= told)
        })
    }

    /// Checks that every acknowledged event was acked once, by its own agent's gateway.
    fn check_history(mut self, stage: &mut Stage) -> Result<()> {
        let folder = stage.cluster.folder().to_owned();
        let (mut told, mut acked) = (Vec::new(), Vec::new());
        for (number, platform) in [&mut stage.platform, &mut self.platform].into_iter().enumerate()
        {
            let file = folder.join(format!("told-{number}"));
            let _: platform::Told = platform.ask(&Order::Save(file.clone()))?;
            told.extend(history::load(&file)?);
        }
        let gateways = iter::once(&mut stage.gateways).chain(&mut self.gateways);
        for (number, gateways) in gateways.enumerate() {
            let file = folder.join(format!("acked-{number}"));
            let _: gateway::Standing = gateways.ask(&gateway::Order::Save(file.clone()))?;
            acked.extend(history::load(&file)?);
        }
        history::check(&told, &acked)
    }
}

fn wait_until(otherwise: &str, mut is_so: impl FnMut() -> Result<bool>) -> Result<()> {
    let deadline = Instant::now() + ARRIVED_WITHIN;
    while !is_so()? {
        ensure!(Instant::now() < deadline, "{otherwise} within {ARRIVED_WITHIN:?}");
        thread::sleep(LOOK_EVERY);
    }
    Ok(())
}
