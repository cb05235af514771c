//! `config check`: checks that a node could run with this configuration.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, bail, ensure};
use nightdesk_desk::Readiness;
use nightdesk_register::{Bots, Register};
use nightdesk_store_pg::Pg;
use nightdesk_types::SystemClock;
use nightdesk_vault::Vault;
use serde_json::{Value, json};

use crate::config::{Config, RedisSection, WaySection};
use crate::erasures::Erasures;
use crate::{certificate, ui, wiring};

/// Checks everything that a node needs before it serves. Fails if something is missing.
pub(super) async fn run(config: &Config, json: bool) -> anyhow::Result<()> {
    let mut checks = vec![
        ConfigCheck::new("the vault's keys open all sealed values", vault(config).await),
        ConfigCheck::new("secret files are readable only by their owner", private_files(config)),
        ConfigCheck::new("the database responds, and is migrated", database(config).await),
        ConfigCheck::finding("the database keeps what it confirmed", durability(config).await),
        ConfigCheck::new("the clock agrees with the database", clock(config).await),
        ConfigCheck::new("the store of files holds nothing else", media(config).await),
    ];
    if config.erasure.list_file.is_some() {
        let result = erasures(config).await;
        checks.push(ConfigCheck::finding("the list of erased tenants is whole", result));
    }
    if let Some(files) = config.listen.tls_files() {
        let result = certificate::check(files);
        checks.push(ConfigCheck::new("the certificate can be served", result));
    }
    if let Some(redis) = &config.redis {
        checks.push(ConfigCheck::new("Redis responds", bell(config, redis).await));
    }
    if !config.ways.is_empty() {
        checks.push(ConfigCheck::new("the configured ways of letters work", ways(config).await));
    }
    if json {
        ui::put(&checks.iter().map(ConfigCheck::to_json).collect::<Value>().to_string());
    } else {
        for check in &checks {
            ui::put(&check.to_line());
        }
    }
    let failed = checks.iter().filter(|check| check.result.is_err()).count();
    if failed > 0 {
        bail!("{failed} of {} checks failed; fix the errors above", checks.len());
    }
    Ok(())
}

/// One check of the configuration, and its result.
struct ConfigCheck {
    name: &'static str,
    /// The finding that the operator should know, if there is one.
    result: anyhow::Result<Option<String>>,
}

impl ConfigCheck {
    fn new(name: &'static str, result: anyhow::Result<()>) -> Self {
        Self { name, result: result.map(|()| None) }
    }

    /// A check that succeeds with a finding.
    fn finding(name: &'static str, result: anyhow::Result<String>) -> Self {
        Self { name, result: result.map(Some) }
    }

    fn to_json(&self) -> Value {
        let name = self.name;
        match &self.result {
            Ok(None) => json!({ "check": name, "ok": true }),
            Ok(Some(found)) => json!({ "check": name, "ok": true, "found": found }),
            Err(error) => json!({ "check": name, "ok": false, "error": format!("{error:#}") }),
        }
    }

    fn to_line(&self) -> String {
        let name = self.name;
        match &self.result {
            Ok(None) => format!("ok      {name}"),
            Ok(Some(found)) => format!("ok      {name}: {found}"),
            Err(error) => format!("FAILED  {name}: {error:#}"),
        }
    }
}

async fn vault(config: &Config) -> anyhow::Result<()> {
    let locksmith = wiring::locksmith(&Arc::new(connect(config)?), config.vault().await?);
    Ok(locksmith.check().await?)
}

async fn erasures(config: &Config) -> anyhow::Result<String> {
    let (pg, vault) = (Arc::new(connect(config)?), config.vault().await?);
    let listed = match Erasures::open(config, &pg, &vault) {
        Some(erasures) => erasures.verify().await?,
        None => 0,
    };
    Ok(format!("{listed} tenants"))
}

/// Prepares connections for checks that read no message, so that a fault of the vault does not hide others.
fn connect(config: &Config) -> anyhow::Result<Pg> {
    wiring::connect(config, Vault::from_key_file(&Vault::new_key_file())?)
}

fn private_files(config: &Config) -> anyhow::Result<()> {
    let database = &config.database;
    let files = [
        config.vault.key_file.as_ref(),
        database.password_file.as_ref(),
        database.migrate_password_file.as_ref(),
        config.redis.as_ref().and_then(|redis| redis.password_file.as_ref()),
        config.listen.tls_files().map(|files| &files.key),
    ];
    let ways = config.ways.iter().flat_map(WaySection::secret_files);
    let files = files.into_iter().flatten().chain(&config.vault.old_key_files).chain(ways);
    files.into_iter().try_for_each(|file| private(file))
}

fn private(file: &Path) -> anyhow::Result<()> {
    let name = file.display();
    let mode =
        std::fs::metadata(file).with_context(|| format!("could not read the mode of {name}"))?;
    let others = mode.permissions().mode() & 0o077;
    ensure!(others == 0, "other users may read {name}; run `chmod 400 {name}`");
    Ok(())
}

async fn database(config: &Config) -> anyhow::Result<()> {
    let pg = connect(config)?;
    wiring::has_its_tables(&pg).await
}

async fn durability(config: &Config) -> anyhow::Result<String> {
    let pg = connect(config)?;
    Ok(wiring::durability::check(config, &pg).await?.to_string())
}

async fn bell(config: &Config, redis: &RedisSection) -> anyhow::Result<()> {
    let pg = Arc::new(connect(config)?);
    let secret = wiring::bus_secret(&wiring::locksmith(&pg, config.vault().await?)).await?;
    let bell = crate::bell::open_redis_bell(config, redis, &secret, &Arc::default())?;
    Ok(bell.check_connection().await?)
}

async fn ways(config: &Config) -> anyhow::Result<()> {
    let pg = Arc::new(connect(config)?);
    let register = Register::new(pg, config.vault().await?);
    wiring::ways::check(config, &register, &wiring::outside(config)?).await
}

async fn media(config: &Config) -> anyhow::Result<()> {
    wiring::desk::open_media_place(config).await.map(drop)
}

async fn clock(config: &Config) -> anyhow::Result<()> {
    let readiness = Readiness::new(Arc::new(SystemClock::start()));
    let pg = connect(config)?;
    readiness.compare_clocks(pg.time()).await.context("could not read the time of the database")?;
    Ok(readiness.get()?)
}
