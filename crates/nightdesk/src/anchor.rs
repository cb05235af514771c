//! Appends the heads of the audit log to a file outside the database every hour.
//!
//! One node at a time does it. The next round makes up for a failed one, and a node writes every head in its first
//! round.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use nightdesk_lease::{Owners, Ownership, Resource};
use nightdesk_register::audit::{Anchor, Auditing};
use nightdesk_types::limits::AUDIT_ANCHORED_EVERY;
use nightdesk_types::{Clock, SystemClock};
use tokio_util::sync::CancellationToken;

/// The state that anchoring needs.
pub(crate) struct AnchorTask {
    pub(crate) store: Arc<dyn Auditing>,
    pub(crate) owners: Owners,
    pub(crate) file: PathBuf,
}

impl AnchorTask {
    /// Writes heads until the node stops.
    pub(crate) async fn run(self, stop: CancellationToken) {
        let (mut every, mut lately) = (tokio::time::interval(AUDIT_ANCHORED_EVERY), false);
        while stop.run_until_cancelled(every.tick()).await.is_some() {
            match self.write_heads(lately).await {
                Ok(wrote) => lately |= wrote,
                Err(error) => {
                    let error: &dyn std::error::Error = &*error;
                    let file = self.file.display();
                    tracing::error!(error, "could not write the audit log's heads to {file}");
                }
            }
        }
    }

    /// Writes the heads if this node owns the task. Returns true if it does.
    async fn write_heads(&self, lately: bool) -> anyhow::Result<bool> {
        if !matches!(self.owners.find_or_claim(Resource::AuditAnchor).await?, Ownership::Here(_)) {
            return Ok(false);
        }
        let at = SystemClock::start().now();
        let mut page = self.store.chain_heads(None, lately).await?;
        while let Some((last, _)) = page.last() {
            let last = *last;
            let mut lines = String::new();
            for (tenant, link) in page {
                writeln!(lines, "{}", Anchor { at, tenant, link })?;
            }
            append(&self.file, lines).await?;
            page = self.store.chain_heads(Some(last), lately).await?;
        }
        Ok(true)
    }
}

/// Appends on a blocking thread, because a disk may be slow.
async fn append(file: &Path, lines: String) -> anyhow::Result<()> {
    let file = file.to_owned();
    let appended = tokio::task::spawn_blocking(move || {
        let mut file = std::fs::OpenOptions::new().create(true).append(true).open(file)?;
        file.write_all(lines.as_bytes())?;
        file.sync_all()
    });
    Ok(appended.await??)
}
