//! The audit log: its rows, and the verification of its chains.

use std::time::Duration;

use nightdesk_register::audit::{Anchor, AuditRecord, ChainLink, Fault, Verifier};
use nightdesk_types::limits::{AUDIT_KEPT_DAYS, AUDIT_PAGE_ROWS, LIST_ROWS_MAX};
use nightdesk_types::{TenantId, TenantScope, Timestamp};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::error::OfficeError;
use crate::office::Office;

/// An action in the audit log.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct AuditRowView {
    /// The number of the row in its chain.
    pub number: i64,
    /// The time.
    pub at: String,
    /// The actor.
    pub actor: String,
    /// The kind of the action.
    pub kind: String,
    /// The subject: ids and numbers.
    pub about: Value,
}

impl From<AuditRecord> for AuditRowView {
    fn from(record: AuditRecord) -> Self {
        let AuditRecord { seq, at, actor, kind, about, hash: _ } = record;
        let about = serde_json::from_str(&about).unwrap_or(Value::String(about));
        Self { number: seq, at: at.to_string(), actor, kind, about }
    }
}

/// The head of a chain.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct AuditChainView {
    /// The tenant.
    #[schema(value_type = String)]
    pub tenant_id: TenantId,
    /// The number of the last row.
    pub head: i64,
    /// The line of an anchor file. Stored outside the desk, it proves later that the chain was not rebuilt.
    pub anchor: String,
}

impl AuditChainView {
    fn new(at: Timestamp, tenant: TenantId, link: ChainLink) -> Self {
        let head = link.seq;
        Self { tenant_id: tenant, head, anchor: Anchor { at, tenant, link }.to_string() }
    }
}

/// The result of the verification of a chain: the number of its rows, or its fault.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct AuditCheckView {
    /// The tenant.
    #[schema(value_type = String)]
    pub tenant_id: TenantId,
    /// The number of verified rows, if the chain is whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows: Option<i64>,
    /// The fault.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
}

impl Office {
    /// Returns a page of the actions of a tenant, or of the desk itself, after this number, oldest first.
    pub async fn audit_rows(
        &self,
        scope: Option<TenantScope>,
        after: i64,
    ) -> Result<Vec<AuditRowView>, OfficeError> {
        let scope = scope.unwrap_or_else(TenantScope::desk_own);
        let store = self.desk.stops.register.store();
        let page = store.audit_records(scope, after, LIST_ROWS_MAX).await?;
        Ok(page.into_iter().map(AuditRowView::from).collect())
    }

    /// Returns a page of the actions of a tenant, or of the desk itself, before this number, newest first.
    pub async fn audit_rows_before(
        &self,
        scope: Option<TenantScope>,
        before: Option<i64>,
    ) -> Result<Vec<AuditRowView>, OfficeError> {
        let own = scope.unwrap_or_else(TenantScope::desk_own);
        let head = self.desk.stops.register.store().chain(own).await?.head.seq;
        let end = before.unwrap_or(i64::MAX).min(head + 1);
        let mut rows = self.audit_rows(scope, end - 1 - LIST_ROWS_MAX).await?;
        rows.retain(|row| row.number < end);
        rows.reverse();
        Ok(rows)
    }

    /// Returns the head of a tenant's chain.
    pub async fn audit_chain(&self, scope: TenantScope) -> Result<AuditChainView, OfficeError> {
        let store = self.desk.stops.register.store();
        let at = store.time().await?;
        let head = store.chain(scope).await?.head;
        Ok(AuditChainView::new(at, scope.tenant(), head))
    }

    /// Returns a page of the heads of all chains, after this tenant.
    pub async fn audit_chains(
        &self,
        after: Option<TenantId>,
    ) -> Result<Vec<AuditChainView>, OfficeError> {
        let store = self.desk.stops.register.store();
        let at = store.time().await?;
        let page = store.chain_heads(after, false).await?;
        Ok(page.into_iter().map(|(tenant, link)| AuditChainView::new(at, tenant, link)).collect())
    }

    /// Verifies that no row of a chain was changed, removed or cut off, and that the chain contains the anchors, which
    /// are lines of an anchor file.
    pub async fn verify_audit_chain(
        &self,
        scope: TenantScope,
        anchors: &[String],
    ) -> Result<AuditCheckView, OfficeError> {
        let anchors = read_anchors(anchors)?;
        let now = self.desk.stops.register.store().time().await?;
        let kept = Duration::from_hours(24) * AUDIT_KEPT_DAYS.unsigned_abs();
        let kept_since = now.checked_sub(kept).unwrap_or(Timestamp::UNIX_EPOCH);
        // Retention may remove the beginning of a chain during the read, which looks like a fault, so a faulty chain is
        // read once more.
        let verified = match self.verify_rows(scope, &anchors, kept_since).await? {
            Err(_) => self.verify_rows(scope, &anchors, kept_since).await?,
            whole @ Ok(_) => whole,
        };
        let (rows, fault) = match verified {
            Ok(rows) => (Some(rows), None),
            Err(fault) => (None, Some(fault.to_string())),
        };
        Ok(AuditCheckView { tenant_id: scope.tenant(), rows, fault })
    }

    /// Reads a chain. Returns the number of its rows, or the fault.
    async fn verify_rows(
        &self,
        scope: TenantScope,
        anchors: &[Anchor],
        kept_since: Timestamp,
    ) -> Result<Result<i64, Fault>, OfficeError> {
        let store = self.desk.stops.register.store();
        let chain = store.chain(scope).await?;
        let began = chain.begins.seq;
        let mut verifier = match Verifier::begin(scope.tenant(), chain, anchors, kept_since) {
            Ok(verifier) => verifier,
            Err(fault) => return Ok(Err(fault)),
        };
        while !verifier.is_whole() {
            let page = store.audit_records(scope, verifier.verified_seq(), AUDIT_PAGE_ROWS).await?;
            if page.is_empty() {
                break;
            }
            if let Err(fault) = page.iter().try_for_each(|row| verifier.verify_next(row)) {
                return Ok(Err(fault));
            }
        }
        Ok(verifier.finish().map(|last| last - began))
    }
}

fn read_anchors(lines: &[String]) -> Result<Vec<Anchor>, OfficeError> {
    let read = |(number, line): (usize, &String)| {
        let bad = |error| OfficeError::Invalid(format!("anchor {}: {error}", number + 1));
        line.parse::<Anchor>().map_err(bad)
    };
    lines.iter().enumerate().map(read).collect()
}
