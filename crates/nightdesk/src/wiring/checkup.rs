//! Checks everything that a node needs to serve, before it runs and while it does.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, ensure};
use nightdesk_desk::Readiness;
use nightdesk_register::{Bots, Register};
use nightdesk_store_pg::Pg;
use nightdesk_types::SystemClock;
use nightdesk_vault::Vault;

use crate::config::{Config, RedisSection, WaySection};
use crate::erasures::Erasures;
use crate::wiring::durability::DurabilityReport;
use crate::wiring::{self, durability};

/// The bits of a file's mode that let other users in.
const OTHER_USERS: u32 = 0o077;

/// The parts of a running node that checks use in place of their own.
pub(crate) struct RunningParts {
    pub(crate) vault: Vault,
    pub(crate) readiness: Readiness,
}

/// The checks of a node with a configuration.
pub(crate) struct Checkup<'c> {
    pub(crate) config: &'c Config,
    running: Option<&'c RunningParts>,
}

impl<'c> Checkup<'c> {
    /// Returns the checks of a node that may not run.
    pub(crate) const fn of_configuration(config: &'c Config) -> Self {
        Self { config, running: None }
    }

    /// Returns the checks of a node that runs.
    pub(crate) const fn of_node(config: &'c Config, running: &'c RunningParts) -> Self {
        Self { config, running: Some(running) }
    }

    /// Checks that the vault's keys open all sealed values.
    pub(crate) async fn check_vault(&self) -> anyhow::Result<()> {
        let locksmith = wiring::locksmith(&Arc::new(self.connect()?), self.vault().await?);
        Ok(locksmith.check().await?)
    }

    /// Checks that secret files are readable only by their owner.
    pub(crate) fn check_secret_files(&self) -> anyhow::Result<()> {
        for file in self.secret_files() {
            let name = file.display();
            let is_open = mode(file)? & OTHER_USERS != 0;
            ensure!(!is_open, "other users may read {name}; run `chmod 400 {name}`");
        }
        Ok(())
    }

    /// Takes the rights of other users from secret files. Returns the changed files.
    pub(crate) fn close_secret_files(&self) -> anyhow::Result<Vec<PathBuf>> {
        let mut closed = Vec::new();
        for file in self.secret_files() {
            let mode = mode(file)?;
            if mode & OTHER_USERS != 0 {
                let own = std::fs::Permissions::from_mode(mode & !OTHER_USERS);
                let changed = std::fs::set_permissions(file, own);
                changed.with_context(|| format!("could not run chmod on {}", file.display()))?;
                closed.push(file.clone());
            }
        }
        Ok(closed)
    }

    /// Checks that the database responds and has every migration.
    pub(crate) async fn check_database(&self) -> anyhow::Result<()> {
        wiring::has_its_tables(&self.connect()?).await
    }

    /// Checks that the database keeps what it confirmed.
    pub(crate) async fn check_durability(&self) -> anyhow::Result<DurabilityReport> {
        durability::check(self.config, &self.connect()?).await
    }

    /// Checks that the clock agrees with the database.
    pub(crate) async fn check_clock(&self) -> anyhow::Result<()> {
        if let Some(running) = self.running {
            return Ok(running.readiness.get()?);
        }
        let readiness = Readiness::new(Arc::new(SystemClock::start()));
        let pg = self.connect()?;
        let compared = readiness.compare_clocks(pg.time()).await;
        compared.context("could not read the time of the database")?;
        Ok(readiness.get()?)
    }

    /// Checks that the store of files holds nothing else.
    pub(crate) async fn check_media(&self) -> anyhow::Result<()> {
        wiring::desk::open_media_place(self.config).await.map(drop)
    }

    /// Checks the list of erased tenants. Returns their number.
    pub(crate) async fn check_erasures(&self) -> anyhow::Result<usize> {
        let (pg, vault) = (Arc::new(self.connect()?), self.vault().await?);
        match Erasures::open(self.config, &pg, &vault) {
            Some(erasures) => erasures.verify().await,
            None => Ok(0),
        }
    }

    /// Checks that Redis responds.
    pub(crate) async fn check_redis(&self, redis: &RedisSection) -> anyhow::Result<()> {
        let pg = Arc::new(self.connect()?);
        let secret = wiring::bus_secret(&wiring::locksmith(&pg, self.vault().await?)).await?;
        let bell = crate::bell::open_redis_bell(self.config, redis, &secret, &Arc::default())?;
        Ok(bell.check_connection().await?)
    }

    /// Checks that the configured ways of letters work.
    pub(crate) async fn check_ways(&self) -> anyhow::Result<()> {
        let register = Register::new(Arc::new(self.connect()?), self.vault().await?);
        wiring::ways::check(self.config, &register, &wiring::outside(self.config)?).await
    }

    /// Prepares connections for checks that read no message, so that a fault of the vault does not hide others.
    pub(crate) fn connect(&self) -> anyhow::Result<Pg> {
        wiring::connect(self.config, Vault::from_key_file(&Vault::new_key_file())?)
    }

    async fn vault(&self) -> anyhow::Result<Vault> {
        match self.running {
            Some(running) => Ok(running.vault.clone()),
            None => self.config.vault().await,
        }
    }

    fn secret_files(&self) -> impl Iterator<Item = &'c PathBuf> {
        let config = self.config;
        let database = &config.database;
        let files = [
            config.vault.key_file.as_ref(),
            database.password_file.as_ref(),
            database.migrate_password_file.as_ref(),
            config.redis.as_ref().and_then(|redis| redis.password_file.as_ref()),
            config.mail.as_ref().and_then(|mail| mail.password_file.as_ref()),
            config.schedule.relay_secrets_file.as_ref(),
            config.listen.tls_files().map(|files| &files.key),
        ];
        let logins = config.logins.iter().filter_map(|login| login.client_secret_file.as_ref());
        let ways = config.ways.iter().flat_map(WaySection::secret_files);
        files.into_iter().flatten().chain(&config.vault.old_key_files).chain(logins).chain(ways)
    }
}

fn mode(file: &Path) -> anyhow::Result<u32> {
    let found = std::fs::metadata(file);
    let found = found.with_context(|| format!("could not read the mode of {}", file.display()))?;
    Ok(found.permissions().mode())
}
