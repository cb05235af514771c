//! `nightdesk audit`: lists the audit log and verifies it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::Subcommand;
use nightdesk_register::audit::Anchor;
use nightdesk_types::TenantId;
use nightdesk_types::limits::AUDIT_ANCHORS_MAX;
use serde_json::{Value, json};

use crate::desk_client::{ApiRequest, DeskClient};
use crate::ui::{self, CommandOutput};

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
        /// The file of heads to compare with, as `audit.anchor_file` names it.
        #[arg(long, value_name = "FILE")]
        anchors: Option<PathBuf>,
    },
}

/// The members of an action in a list.
const ROW_COLUMNS: &[&str] = &["number", "at", "actor", "kind", "about"];

/// The members of a verified chain in a list.
const CHAIN_COLUMNS: &[&str] = &["tenant_id", "rows"];

/// The lines of an anchor file, by tenant.
type AnchorLines = BTreeMap<TenantId, Vec<String>>;

/// Runs a command about the audit log.
pub(super) async fn run(
    desk: &DeskClient,
    command: AuditSubcommand,
) -> anyhow::Result<CommandOutput> {
    match command {
        AuditSubcommand::List { tenant, after } => {
            let request = match &tenant {
                Some(tenant) => ApiRequest::get(&["tenants", tenant, "audit"]),
                None => ApiRequest::get(&["admin", "audit"]),
            };
            desk.list(request.with("after", after), ROW_COLUMNS).await
        }
        AuditSubcommand::Verify { tenant, anchors } => {
            let anchors = anchors.map(|file| read_anchors(&file)).transpose()?;
            if anchors.is_none() {
                ui::print_text(
                    "without --anchors, a chain that was rebuilt as a whole is not detected",
                );
            }
            let anchors = anchors.unwrap_or_default();
            report(match &tenant {
                Some(tenant) => vec![verify_tenant(desk, tenant, &anchors).await?],
                None => verify_all(desk, &anchors).await?,
            })
        }
    }
}

/// Reads the anchors from a file. Of each tenant, the newest are sent to the desk.
fn read_anchors(file: &Path) -> anyhow::Result<AnchorLines> {
    let text = std::fs::read_to_string(file)
        .with_context(|| format!("could not read the anchor file {}", file.display()))?;
    let mut anchors = AnchorLines::new();
    for (number, line) in text.lines().enumerate() {
        let read = line.parse::<Anchor>();
        let read = read.with_context(|| format!("line {} of {}", number + 1, file.display()))?;
        anchors.entry(read.tenant).or_default().push(line.to_owned());
    }
    for lines in anchors.values_mut() {
        lines.drain(..lines.len().saturating_sub(AUDIT_ANCHORS_MAX));
    }
    Ok(anchors)
}

async fn verify_tenant(
    desk: &DeskClient,
    tenant: &str,
    anchors: &AnchorLines,
) -> anyhow::Result<Value> {
    let chain = desk.call(ApiRequest::get(&["tenants", tenant, "audit", "chain"])).await?;
    let body = check_request(anchors, read_id(&chain["tenant_id"])?);
    desk.call(ApiRequest::post(&["tenants", tenant, "audit", "verify"]).with_body(body)).await
}

/// Verifies the chains of all tenants and of the desk itself. A tenant of the anchors or of the desk may lack its chain.
async fn verify_all(desk: &DeskClient, anchors: &AnchorLines) -> anyhow::Result<Vec<Value>> {
    let mut tenants: BTreeSet<TenantId> = anchors.keys().copied().collect();
    for row in all_rows(desk, &["admin", "audit", "chains"], "tenant_id").await? {
        tenants.insert(read_id(&row["tenant_id"])?);
    }
    for row in all_rows(desk, &["tenants"], "name").await? {
        tenants.insert(read_id(&row["id"])?);
    }
    let mut verified = Vec::with_capacity(tenants.len());
    for tenant in tenants {
        let id = tenant.to_string();
        let request = ApiRequest::post(&["admin", "audit", "chains", &id, "verify"]);
        verified.push(desk.call(request.with_body(check_request(anchors, tenant))).await?);
    }
    Ok(verified)
}

fn check_request(anchors: &AnchorLines, tenant: TenantId) -> Value {
    json!({ "anchors": anchors.get(&tenant).map_or(&[][..], Vec::as_slice) })
}

/// Reads all pages of a list that goes on after this member of the last row.
async fn all_rows(
    desk: &DeskClient,
    path: &[&str],
    cursor: &'static str,
) -> anyhow::Result<Vec<Value>> {
    let mut rows = Vec::new();
    let mut after = String::new();
    while let Value::Array(page) = desk.call(ApiRequest::get(path).with("after", &after)).await? {
        let last = page.last().and_then(|last| last[cursor].as_str());
        let Some(last) = last else { break };
        after = last.to_owned();
        rows.extend(page);
    }
    Ok(rows)
}

fn read_id(id: &Value) -> anyhow::Result<TenantId> {
    let id = id.as_str().and_then(|id| id.parse().ok());
    id.context("the answer of the desk names no tenant; is it of another release?")
}

/// Returns the verified chains, or fails if one of them has a fault.
fn report(verified: Vec<Value>) -> anyhow::Result<CommandOutput> {
    let broken: Vec<String> = verified
        .iter()
        .filter_map(|chain| {
            let (tenant, fault) = (chain["tenant_id"].as_str()?, chain["fault"].as_str()?);
            Some(format!("tenant {tenant}: {fault}"))
        })
        .collect();
    if broken.is_empty() {
        return Ok(CommandOutput::Table { rows: verified, columns: CHAIN_COLUMNS });
    }
    bail!(
        "the audit log was tampered with; keep the database as it is, and compare it with a \
         backup:\n  {}",
        broken.join("\n  ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_in_one_chain_fails_the_command() {
        let whole = json!({ "tenant_id": "t1", "rows": 3 });
        assert!(report(vec![whole.clone()]).is_ok());

        let broken = json!({ "tenant_id": "t2", "fault": "row 2 is missing" });
        let error = report(vec![whole, broken]).unwrap_err().to_string();
        assert!(error.ends_with("tenant t2: row 2 is missing"), "{error}");
    }
}
