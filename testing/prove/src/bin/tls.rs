//! Replaces the certificate of a desk again and again while gateways dial over TLS.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, ensure};
use clap::Parser;
use nightdesk_prove::tls::TlsWorld;
use nightdesk_prove::tls::load::{Gateways, TlsLoad};
use nightdesk_prove::{ui, worker};

const GATEWAYS: Gateways = Gateways { diallers: 6, returning: 2, holding: 4 };

/// Each replacement of this number, by its position, waits for the periodic look instead of a signal.
const WITHOUT_SIGNAL: usize = 10;

/// Each replacement of this number, by its position, comes after a pair that does not belong together.
const AFTER_BROKEN: usize = 5;

/// Replaces a certificate under load.
#[derive(Debug, Parser)]
struct Arguments {
    #[command(subcommand)]
    work: Option<worker::Work>,

    /// Number of replacements.
    #[arg(long, default_value_t = 60)]
    replacements: usize,

    /// Path of the desk's binary, built with the feature `scripted`.
    #[arg(long, env = "NIGHTDESK_BIN", default_value = "target/debug/nightdesk")]
    desk: PathBuf,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    worker::run("tls", arguments.work.as_ref(), || {
        let world = TlsWorld::set(&arguments.desk, GATEWAYS.count())?;
        let runtime = tokio::runtime::Runtime::new().context("could not start the runtime")?;
        runtime.block_on(prove(&world, arguments.replacements))
    })
}

async fn prove(world: &TlsWorld, replacements: usize) -> Result<()> {
    let TlsWorld { desk, cast, authority, .. } = world;
    let load = TlsLoad::begin(desk.address(), cast, authority, GATEWAYS).await?;
    for number in 1..=replacements {
        if number % AFTER_BROKEN == 0 {
            ui::say(&format!("{number} of {replacements}: a certificate without its key"));
            refuse_broken(world).await?;
        }
        replace(world, number).await?;
        load.check_held().await?;
    }
    world.wait_until_counted(&counted(replacements)).await?;
    let counts = load.end().await?;
    let failure = counts.first_failure().unwrap_or_default();
    ui::put(&format!("load: dials={} held={}", counts.done(), GATEWAYS.holding));
    ui::put(&format!("tls: replaced={replacements} failed_dials={}", counts.failed()));
    ensure!(counts.failed() == 0, "dials failed; the first: {failure}");
    ensure!(counts.done() > replacements as u64, "there were too few dials to prove anything");
    Ok(())
}

fn counted(replacements: usize) -> String {
    format!("nightdesk_tls_certificate_replaced_total {replacements}")
}

/// Replaces the certificate, and waits until the desk presents it.
async fn replace(world: &TlsWorld, number: usize) -> Result<()> {
    let next = world.authority.issue()?;
    world.install(&next)?;
    if !number.is_multiple_of(WITHOUT_SIGNAL) {
        world.hang_up()?;
    }
    world.wait_until_presented(&next).await
}

/// Installs half of a certificate: the desk reports it and presents the previous one.
async fn refuse_broken(world: &TlsWorld) -> Result<()> {
    let before = world.presented().await?;
    world.install_half(&world.authority.issue()?)?;
    world.hang_up()?;
    world.wait_until_counted("nightdesk_tls_certificate_reload_failed 1").await?;
    ensure!(world.presented().await? == before, "a broken pair replaced a good certificate");
    Ok(())
}
