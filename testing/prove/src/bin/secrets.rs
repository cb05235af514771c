//! Replaces every kind of key under load, and checks that none of them is found anywhere.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use clap::Parser;
use nightdesk_prove::chaos::mutants;
use nightdesk_prove::secrets::load::{Load, Requests};
use nightdesk_prove::secrets::{World, canary, dig, messages, rotate};
use nightdesk_prove::{ui, worker};

/// Number of agents, two for each tenant.
const AGENTS: usize = 20;

/// Replaces every kind of key under load, and searches for them.
#[derive(Debug, Parser)]
struct Arguments {
    #[command(subcommand)]
    work: Option<worker::Work>,

    /// Number of tenants whose data keys are wrapped again.
    #[arg(long, default_value_t = 100_000)]
    tenants: usize,

    /// Number of the bug to plant, which the proof must detect. It needs the mutated build.
    #[arg(long)]
    mutant: Option<String>,

    /// Path of the desk's binary, built with the features `scripted` and `failpoints`.
    #[arg(long, env = "NIGHTDESK_BIN", default_value = "target/debug/nightdesk")]
    desk: PathBuf,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    worker::run("secrets", arguments.work.as_ref(), || {
        let runtime = tokio::runtime::Runtime::new().context("could not start the runtime")?;
        runtime.block_on(prove(&arguments))
    })
}

async fn prove(arguments: &Arguments) -> Result<()> {
    let mutation = mutants::mutation(arguments.mutant.as_deref())?;
    let mut world = World::set(&arguments.desk, AGENTS, mutation).await?;
    world.enter_tenants(arguments.tenants)?;
    let load = Load::on(world.desk.address(), &world.cast);
    let (requests, began) = (Requests::begin(Arc::clone(&load)), Instant::now());

    ui::say("capabilities: lent, used, refused to others, ended");
    rotate::capabilities(&world, &load).await?;
    ui::say("messages of each kind");
    messages::write(&world)?;
    ui::say("the vault's key, with a kill in the middle");
    let (rows, seconds) = rotate::vault_key(&mut world)?;
    rotate::missing_vault_key(&world)?;
    ui::put(&format!("vault_key: rows={rows} seconds={seconds:.1} killed=1"));
    ui::say("every tenant's data key");
    rotate::data_keys(&world)?;
    ui::say("gateways' secrets");
    rotate::gateway_secrets(&world, &load)?;
    ui::say("the bot's key");
    let bot_key = rotate::bot_key(&world, &load).await?;
    ui::say("erasing a tenant");
    rotate::erase(&world, &load).await?;

    let took = began.elapsed().as_secs();
    let load = requests.end().await;
    let (done, failed) = load.counts();
    let first = load.first_failure().unwrap_or_default();
    ensure!(failed == 0, "{failed} of {done} requests failed; the first: {first}");
    ui::put(&format!("load: requests={done} seconds={took}"));
    ui::say("searching for what must not be found");
    let hits = canary::search(&world, &secrets(&world, &load, bot_key))?;
    let dug = dig(&mut world)?;
    ensure!(hits.is_empty() && dug == 0, "found {dug} ways to the memory, and {hits:?}");
    ui::put("secrets: kinds=6 failed_requests=0 canary_hits=0");
    Ok(())
}

/// Returns every secret of the run.
fn secrets(world: &World, load: &Load, bot_key: String) -> Vec<String> {
    let mut secrets = world.operator.vault_keys.clone();
    secrets.extend([canary::CAPABILITY.to_owned(), bot_key, world.cast.bots[0].key.clone()]);
    secrets.push(world.operator.token.clone());
    secrets.extend(world.cast.members.iter().map(|member| member.secret.clone()));
    secrets.extend(load.secrets());
    secrets
}
