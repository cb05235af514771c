//! Replaces the key of the vault. The command opens the database, because it needs the new key's file.

use std::sync::Arc;
use std::time::Instant;

use nightdesk_register::audit::{Auditing, Kind};
use nightdesk_types::{Actor, TenantScope};
use serde_json::json;

use crate::config::Config;
use crate::erasures::Erasures;
use crate::ui::CommandOutput;
use crate::wiring;

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
