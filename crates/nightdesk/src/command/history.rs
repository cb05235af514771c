//! `nightdesk history`: tells the desk that its database lost commits.

use std::sync::Arc;

use anyhow::{Context, ensure};
use clap::Subcommand;
use nightdesk_types::limits::HISTORY_REASON_BYTES_MAX;
use nightdesk_types::{Actor, TenantScope};
use serde_json::json;

use crate::config::Config;
use crate::erasures::Erasures;
use crate::ui::CommandOutput;
use crate::wiring;

#[derive(Debug, Subcommand)]
pub(crate) enum HistorySubcommand {
    /// Begin a new history, after an older copy of the database was put back while every node was down. All lines begin
    /// again, and acknowledgements from before do not count.
    #[command(
        after_help = "Example:\n  nightdesk history new --reason \"snapshot of Tuesday put back\""
    )]
    New {
        /// The reason, for the audit log.
        #[arg(long)]
        reason: String,
    },
}

/// Runs a command about histories. It opens the database: a new history begins before the first node starts.
pub(super) async fn run(
    config: &Config,
    command: HistorySubcommand,
) -> anyhow::Result<CommandOutput> {
    let HistorySubcommand::New { reason } = command;
    ensure!(
        (1..=HISTORY_REASON_BYTES_MAX).contains(&reason.len()),
        "--reason must have 1 to {HISTORY_REASON_BYTES_MAX} bytes"
    );
    let vault = config.vault().await?;
    let pg = Arc::new(wiring::connect(config, vault.clone())?);
    let by = TenantScope::desk_own().with_actor(Actor::Operator);
    let begun = pg.begin_history(by, &reason).await?;
    let begun = begun.context("the database is empty; run `nightdesk migrate` first")?;
    if let Some(erasures) = Erasures::open(config, &pg, &vault) {
        erasures.apply().await?;
    }
    Ok(CommandOutput::One(json!({ "incarnation": begun })))
}
