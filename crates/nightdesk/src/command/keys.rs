//! Commands that replace keys, and the command that erases a tenant.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use nightdesk_register::Register;
use nightdesk_register::audit::{Auditing, Kind};
use nightdesk_types::limits::{BOT_KEY_OVERLAP_MAX, BOT_KEY_READ_WITHIN};
use nightdesk_types::{Actor, TenantScope};
use nightdesk_vault::{Key, Locksmith};
use serde_json::json;

use super::{connect, names};
use crate::config::Config;
use crate::config::secret_file::password;
use crate::erasures::Erasures;
use crate::ui::CommandOutput;
use crate::wiring;

/// A bot and its new key.
#[derive(Debug, clap::Args)]
pub(crate) struct BotKeyRotation {
    /// The tenant that runs the bot.
    #[arg(long)]
    tenant: String,
    /// The bot's id.
    #[arg(long)]
    bot: String,
    /// The file with its new key.
    #[arg(long, value_name = "FILE")]
    key_file: PathBuf,
    /// The time that signatures with its earlier keys stay valid: `15m`, at most `24h`.
    #[arg(long, default_value = "24h", value_parser = crate::ui::span)]
    overlap: Duration,
}

/// Wraps all data keys with the sealing key.
pub(super) async fn rotate(config: &Config) -> anyhow::Result<CommandOutput> {
    let vault = config.vault().await?;
    let pg = Arc::new(wiring::connect(config, vault.clone())?);
    let began = Instant::now();
    // The action is recorded first: it runs in steps, and may be killed between two.
    let (by, about) = (
        TenantScope::desk_own().with_actor(Actor::Operator),
        json!({ "vault_key": vault.sealing_key().to_string() }),
    );
    pg.note(by, Kind::VaultRotated, &about).await?;
    let rewrapped = wiring::locksmith(&pg, vault.clone()).rotate().await?;
    if let Some(erasures) = Erasures::open(config, &pg, &vault) {
        erasures.sign_again().await?;
    }
    Ok(CommandOutput::One(json!({
        "vault_key": vault.sealing_key().to_string(), "rewrapped": rewrapped,
        "seconds": began.elapsed().as_secs_f64(),
    })))
}

pub(super) async fn rotate_tenant(
    register: &Register,
    locksmith: &Locksmith,
    name: &str,
) -> anyhow::Result<CommandOutput> {
    let scope = names::tenant(register, name).await?;
    let resealed = locksmith.rotate_tenant(scope).await?;
    Ok(CommandOutput::One(json!({ "tenant_id": scope.tenant(), "resealed": resealed })))
}

/// A tenant to erase, and the operator's confirmation.
pub(super) struct TenantErasure {
    pub(super) name: String,
    pub(super) yes: bool,
}

pub(super) async fn erase(
    register: &Register,
    locksmith: &Locksmith,
    erasures: Option<Erasures>,
    TenantErasure { name, yes }: TenantErasure,
) -> anyhow::Result<CommandOutput> {
    let scope = names::tenant(register, &name).await?;
    ensure!(
        yes,
        "tenant {name} would be erased with all its keys, bots, gateways and messages, and this \
         cannot be undone; repeat the command with --yes to confirm"
    );
    if let Some(erasures) = erasures {
        // First, so that no crash leaves an erasure that a restore undoes.
        erasures.add(vec![scope.tenant()]).await?;
    }
    let texts = locksmith.erase(scope).await?;
    Ok(CommandOutput::One(json!({ "tenant_id": scope.tenant(), "erased": true, "texts": texts })))
}

pub(super) async fn rotate_bot(
    config: &Config,
    register: &Register,
    rotated: BotKeyRotation,
) -> anyhow::Result<CommandOutput> {
    let BotKeyRotation { tenant, bot, key_file, overlap } = rotated;
    ensure!(overlap <= BOT_KEY_OVERLAP_MAX, "--overlap must be at most 24h");
    let (scope, id) = (names::tenant(register, &tenant).await?, names::bot(&bot)?);
    let key = password(Some(&key_file))?.map(Key::new).context("the file contains no key")?;
    let found = register.rotate_bot_key(scope, id, &key, overlap).await?;
    ensure!(found, "tenant {tenant} has no bot {bot}; `nightdesk bot list` shows the ids");
    connect::set_webhook_again(config, register, scope, id).await?;
    let within = BOT_KEY_READ_WITHIN.as_secs();
    Ok(CommandOutput::One(
        json!({ "bot_id": id, "overlap_s": overlap.as_secs(), "read_within_s": within }),
    ))
}
