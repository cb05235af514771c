//! `config check`: checks that a node could run with this configuration.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, bail, ensure};
use nightdesk_desk::Readiness;
use nightdesk_register::{Bots, Register};
use nightdesk_store_pg::Pg;
use nightdesk_types::SystemClock;
use serde_json::{Value, json};

use crate::config::{Config, Redis, WaySection};
use crate::{ui, wiring};

/// Checks everything that a node needs before it serves. Fails if something is missing.
pub(super) async fn run(config: &Config, json: bool) -> anyhow::Result<()> {
    let mut looked = vec![
        ("the vault's keys open everything", vault(config).await),
        ("secret files are read by their owner alone", private_files(config)),
        ("the database answers, and is migrated", database(config).await),
        ("the clock is the database's", clock(config).await),
    ];
    if let Some(redis) = &config.redis {
        looked.push(("Redis answers", bell(config, redis).await));
    }
    if !config.ways.is_empty() {
        looked.push(("letters go the ways that are said", ways(config).await));
    }
    let failed = looked.iter().filter(|(_, found)| found.is_err()).count();
    if json {
        ui::put(&looked.iter().map(as_json).collect::<Value>().to_string());
    } else {
        for (what, found) in &looked {
            say(what, found);
        }
    }
    if failed > 0 {
        bail!("{failed} of {} checks failed; mend what is said above", looked.len());
    }
    Ok(())
}

fn as_json((what, found): &(&str, anyhow::Result<()>)) -> Value {
    match found {
        Ok(()) => json!({ "check": what, "ok": true }),
        Err(error) => json!({ "check": what, "ok": false, "error": format!("{error:#}") }),
    }
}

fn say(what: &str, found: &anyhow::Result<()>) {
    match found {
        Ok(()) => ui::put(&format!("ok      {what}")),
        Err(error) => ui::put(&format!("FAILED  {what}: {error:#}")),
    }
}

async fn vault(config: &Config) -> anyhow::Result<()> {
    let locksmith = wiring::locksmith(&Arc::new(wiring::connect(config)?), config.vault().await?);
    Ok(locksmith.check().await?)
}

fn private_files(config: &Config) -> anyhow::Result<()> {
    let database = &config.database;
    let files = [
        config.vault.key_file.as_ref(),
        database.password_file.as_ref(),
        database.migrate_password_file.as_ref(),
        config.redis.as_ref().and_then(|redis| redis.password_file.as_ref()),
    ];
    let ways = config.ways.iter().flat_map(WaySection::secret_files);
    let files = files.into_iter().flatten().chain(&config.vault.old_key_files).chain(ways);
    files.into_iter().try_for_each(|file| private(file))
}

fn private(file: &Path) -> anyhow::Result<()> {
    let name = file.display();
    let mode = std::fs::metadata(file).with_context(|| format!("could not look at {name}"))?;
    let others = mode.permissions().mode() & 0o077;
    ensure!(others == 0, "others may read {name}; run `chmod 400 {name}`");
    Ok(())
}

async fn database(config: &Config) -> anyhow::Result<()> {
    let pg: Pg = wiring::connect(config)?;
    wiring::has_its_tables(&pg).await
}

async fn bell(config: &Config, redis: &Redis) -> anyhow::Result<()> {
    let pg = Arc::new(wiring::connect(config)?);
    let secret = wiring::bus_secret(&wiring::locksmith(&pg, config.vault().await?)).await?;
    let bell = crate::bell::between(config, redis, &secret, &Arc::default())?;
    Ok(bell.check().await?)
}

async fn ways(config: &Config) -> anyhow::Result<()> {
    let pg = Arc::new(wiring::connect(config)?);
    let register = Register::over(pg, config.vault().await?);
    wiring::ways::check(config, &register, &wiring::outside(config)?).await
}

async fn clock(config: &Config) -> anyhow::Result<()> {
    let readiness = Readiness::new(Arc::new(SystemClock::started()));
    let pg = wiring::connect(config)?;
    readiness.look(pg.time()).await.context("the database could not be asked")?;
    Ok(readiness.get()?)
}
