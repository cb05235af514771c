//! `nightdesk audit`: what was done, and whether the log of it is whole.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::Subcommand;
use nightdesk_register::audit::{Anchor, Deed, Fault, Verifier};
use nightdesk_register::{Named, Register};
use nightdesk_types::limits::{AUDIT_KEPT_DAYS, AUDIT_PAGE_ROWS, LIST_ROWS_MAX};
use nightdesk_types::{Clock, SystemClock, TenantId, TenantScope, Timestamp};
use serde_json::{Value, json};

use super::names;
use crate::config::Config;
use crate::ui::Answer;

#[derive(Debug, Subcommand)]
pub(crate) enum Audit {
    /// List what was done for a tenant, oldest first.
    #[command(after_help = "Example:\n  nightdesk audit list --tenant acme --after 200")]
    List {
        /// Whose it is, by name or id.
        #[arg(long)]
        tenant: String,
        /// Begin after this number: the last one of the page before.
        #[arg(long, default_value_t = 0, value_name = "NUMBER")]
        after: i64,
    },
    /// Prove that nothing of it was changed, taken out or cut off.
    #[command(
        after_help = "Example:\n  nightdesk audit verify --tenant acme --anchors /backup/heads.txt"
    )]
    Verify {
        /// Whose it is, by name or id. Without it, every tenant's.
        #[arg(long)]
        tenant: Option<String>,
        /// The file of heads to compare with, if not `audit.anchor_file`.
        #[arg(long, value_name = "FILE")]
        anchors: Option<PathBuf>,
    },
}

pub(super) async fn run(
    config: &Config,
    register: &Register,
    audit: Audit,
) -> anyhow::Result<Answer> {
    match audit {
        Audit::List { tenant, after } => {
            let scope = names::tenant(register, &tenant).await?;
            let deeds = register.store().deeds(scope, after, LIST_ROWS_MAX).await?;
            Ok(Answer::Many(deeds.iter().map(listed).collect()))
        }
        Audit::Verify { tenant, anchors } => {
            let file = anchors.as_ref().or(config.audit.anchor_file.as_ref());
            let anchors = file.map_or_else(|| Ok(Vec::new()), |file| read(file))?;
            verify(register, tenant.as_deref(), &anchors).await
        }
    }
}

/// The heads a file holds.
fn read(file: &Path) -> anyhow::Result<Vec<Anchor>> {
    let text = std::fs::read_to_string(file)
        .with_context(|| format!("could not read the anchor file {}", file.display()))?;
    let line = |(number, line): (usize, &str)| {
        let read = line.parse::<Anchor>();
        read.with_context(|| format!("line {} of {}", number + 1, file.display()))
    };
    text.lines().enumerate().map(line).collect()
}

async fn verify(
    register: &Register,
    tenant: Option<&str>,
    anchors: &[Anchor],
) -> anyhow::Result<Answer> {
    let kept = std::time::Duration::from_hours(24) * AUDIT_KEPT_DAYS.unsigned_abs();
    let kept_since = SystemClock::started().now().checked_sub(kept)?;
    let (mut whole, mut broken) = (Vec::new(), Vec::new());
    let mut page = match tenant {
        Some(called) => register.store().tenants_called(called).await?,
        None => register.store().tenants("").await?,
    };
    if let (Some(called), []) = (tenant, &page[..]) {
        bail!("there is no tenant called {called}; `nightdesk tenant list` shows them");
    }
    while let Some(last) = page.last().map(|last| last.name.clone()) {
        for named in &page {
            match whole_chain(register, named, anchors, kept_since).await? {
                Ok(rows) => whole.push(json!({ "tenant": named.name, "rows": rows })),
                Err(fault) => broken.push(format!("tenant {}: {fault}", named.name)),
            }
        }
        page = if tenant.is_some() { Vec::new() } else { register.store().tenants(&last).await? };
    }
    if broken.is_empty() {
        return Ok(Answer::Many(whole));
    }
    bail!(
        "the audit log was tampered with; keep the database as it is, and compare it with a \
         backup:\n  {}",
        broken.join("\n  ")
    )
}

/// How many rows of a tenant are good, or what is wrong. A chain whose beginning is let go while
/// it is read looks broken: who looks broken is looked at once more.
async fn whole_chain(
    register: &Register,
    tenant: &Named<TenantId>,
    anchors: &[Anchor],
    kept_since: Timestamp,
) -> anyhow::Result<Result<i64, Fault>> {
    let scope = names::listed(tenant);
    match read_chain(register, scope, anchors, kept_since).await? {
        Err(_) => read_chain(register, scope, anchors, kept_since).await,
        whole => Ok(whole),
    }
}

async fn read_chain(
    register: &Register,
    scope: TenantScope,
    anchors: &[Anchor],
    kept_since: Timestamp,
) -> anyhow::Result<Result<i64, Fault>> {
    let chain = register.store().chain(scope).await?;
    let began = chain.begins.seq;
    let mut verifier = match Verifier::begin(scope.tenant(), chain, anchors, kept_since) {
        Ok(verifier) => verifier,
        Err(fault) => return Ok(Err(fault)),
    };
    while !verifier.is_whole() {
        let deeds = register.store().deeds(scope, verifier.stands_at(), AUDIT_PAGE_ROWS).await?;
        if deeds.is_empty() {
            break;
        }
        if let Err(fault) = deeds.iter().try_for_each(|deed| verifier.take(deed)) {
            return Ok(Err(fault));
        }
    }
    Ok(verifier.end().map(|last| last - began))
}

fn listed(deed: &Deed) -> Value {
    let about = serde_json::from_str(&deed.about).unwrap_or_else(|_| json!(deed.about));
    json!({
        "number": deed.seq, "at": deed.at, "actor": deed.actor, "kind": deed.kind, "about": about,
    })
}
