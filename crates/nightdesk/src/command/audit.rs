//! `nightdesk audit`: lists the audit log and verifies it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::Subcommand;
use nightdesk_register::Register;
use nightdesk_register::audit::{Anchor, AuditRecord, Fault, Verifier};
use nightdesk_types::limits::{AUDIT_KEPT_DAYS, AUDIT_PAGE_ROWS, LIST_ROWS_MAX};
use nightdesk_types::{Clock, SystemClock, TenantId, TenantScope, Timestamp};
use serde_json::{Value, json};

use super::names;
use crate::config::Config;
use crate::ui::CommandOutput;

#[derive(Debug, Subcommand)]
pub(crate) enum AuditSubcommand {
    /// List actions, oldest first.
    #[command(after_help = "Example:\n  nightdesk audit list --tenant acme --after 200")]
    List {
        /// The tenant, by name or id. Without it, the desk's own actions.
        #[arg(long)]
        tenant: Option<String>,
        /// Begin after this number: the last one of the previous page.
        #[arg(long, default_value_t = 0, value_name = "NUMBER")]
        after: i64,
    },
    /// Prove that no row of the log was changed, removed or cut off.
    #[command(
        after_help = "Example:\n  nightdesk audit verify --tenant acme --anchors /backup/heads.txt"
    )]
    Verify {
        /// The tenant, by name or id. Without it, all tenants and the desk itself.
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
    audit: AuditSubcommand,
) -> anyhow::Result<CommandOutput> {
    match audit {
        AuditSubcommand::List { tenant, after } => {
            let scope = match tenant {
                Some(tenant) => names::tenant(register, &tenant).await?,
                None => TenantScope::desk_own(),
            };
            let deeds = register.store().audit_records(scope, after, LIST_ROWS_MAX).await?;
            Ok(CommandOutput::Many(deeds.iter().map(record_json).collect()))
        }
        AuditSubcommand::Verify { tenant, anchors } => {
            let file = anchors.as_ref().or(config.audit.anchor_file.as_ref());
            let anchors = file.map_or_else(|| Ok(Vec::new()), |file| read(file))?;
            verify(register, tenant.as_deref(), &anchors).await
        }
    }
}

/// Reads the heads from a file.
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
) -> anyhow::Result<CommandOutput> {
    let kept = std::time::Duration::from_hours(24) * AUDIT_KEPT_DAYS.unsigned_abs();
    let kept_since = SystemClock::start().now().checked_sub(kept)?;
    let (mut whole, mut broken) = (Vec::new(), Vec::new());
    let chains = match tenant {
        Some(called) => BTreeSet::from([names::tenant(register, called).await?.tenant()]),
        None => tenants_to_verify(register, anchors).await?,
    };
    for tenant in chains {
        match whole_chain(register, names::operator_scope(tenant), anchors, kept_since).await? {
            Ok(rows) => whole.push(json!({ "tenant_id": tenant, "rows": rows })),
            Err(fault) => broken.push(format!("tenant {tenant}: {fault}")),
        }
    }
    if broken.is_empty() {
        return Ok(CommandOutput::Many(whole));
    }
    bail!(
        "the audit log was tampered with; keep the database as it is, and compare it with a \
         backup:\n  {}",
        broken.join("\n  ")
    )
}

/// Returns the tenants to verify: tenants with a chain, tenants in the anchors, and all existing tenants.
async fn tenants_to_verify(
    register: &Register,
    anchors: &[Anchor],
) -> anyhow::Result<BTreeSet<TenantId>> {
    let mut all: BTreeSet<TenantId> = anchors.iter().map(|anchor| anchor.tenant).collect();
    let mut page = register.store().chain_heads(None, false).await?;
    while let Some((last, _)) = page.last() {
        let last = *last;
        all.extend(page.into_iter().map(|(tenant, _)| tenant));
        page = register.store().chain_heads(Some(last), false).await?;
    }
    let mut page = register.store().tenants("").await?;
    while let Some(last) = page.last().map(|last| last.name.clone()) {
        all.extend(page.into_iter().map(|tenant| tenant.id));
        page = register.store().tenants(&last).await?;
    }
    Ok(all)
}

/// Returns the number of verified rows of a tenant, or the fault. Retention may remove the beginning of a chain during
/// the read, which looks like a fault, so a faulty chain is read once more.
async fn whole_chain(
    register: &Register,
    scope: TenantScope,
    anchors: &[Anchor],
    kept_since: Timestamp,
) -> anyhow::Result<Result<i64, Fault>> {
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
        let deeds =
            register.store().audit_records(scope, verifier.verified_seq(), AUDIT_PAGE_ROWS).await?;
        if deeds.is_empty() {
            break;
        }
        if let Err(fault) = deeds.iter().try_for_each(|deed| verifier.verify_next(deed)) {
            return Ok(Err(fault));
        }
    }
    Ok(verifier.finish().map(|last| last - began))
}

fn record_json(deed: &AuditRecord) -> Value {
    let about = serde_json::from_str(&deed.about).unwrap_or_else(|_| json!(deed.about));
    json!({
        "number": deed.seq, "at": deed.at, "actor": deed.actor, "kind": deed.kind, "about": about,
    })
}
