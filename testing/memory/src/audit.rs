//! Implements the audit log.

use async_trait::async_trait;
use nightdesk_register::audit::{AuditRecord, Auditing, Chain, ChainLink, Kind, link_hash};
use nightdesk_types::{StoreError, TenantId, TenantScope};
use serde_json::Value;

use super::{Memory, State};

impl Memory {
    /// Records an act, while its changes are still locked.
    pub(super) fn tell(&self, state: &mut State, scope: TenantScope, kind: Kind, about: &Value) {
        let at = self.now();
        let deeds = state.deeds.entry(scope).or_default();
        let before = head(deeds);
        let mut deed = AuditRecord {
            seq: before.seq + 1,
            at,
            actor: scope.actor().to_string(),
            kind: kind.slug().to_owned(),
            about: about.to_string(),
            hash: Vec::new(),
        };
        deed.hash = link_hash(&before, scope.tenant(), &deed);
        deeds.push(deed);
    }
}

fn head(deeds: &[AuditRecord]) -> ChainLink {
    let link = |deed: &AuditRecord| ChainLink { seq: deed.seq, hash: deed.hash.clone() };
    deeds.last().map_or_else(ChainLink::start, link)
}

#[async_trait]
impl Auditing for Memory {
    async fn note(&self, scope: TenantScope, kind: Kind, about: &Value) -> Result<(), StoreError> {
        self.tell(&mut self.lock(), scope, kind, about);
        Ok(())
    }

    async fn audit_records(
        &self,
        scope: TenantScope,
        after: i64,
        rows_max: i64,
    ) -> Result<Vec<AuditRecord>, StoreError> {
        let state = self.lock();
        let deeds = state.deeds.get(&scope).into_iter().flatten();
        let page = deeds.filter(|deed| deed.seq > after);
        Ok(page.take(usize::try_from(rows_max).unwrap_or(0)).cloned().collect())
    }

    async fn chain(&self, scope: TenantScope) -> Result<Chain, StoreError> {
        let state = self.lock();
        let head = state.deeds.get(&scope).map_or_else(ChainLink::start, |deeds| head(deeds));
        Ok(Chain { begins: ChainLink::start(), head })
    }

    async fn chain_heads(
        &self,
        after: Option<TenantId>,
        _lately: bool,
    ) -> Result<Vec<(TenantId, ChainLink)>, StoreError> {
        let state = self.lock();
        let heads = state.deeds.iter().map(|(scope, deeds)| (scope.tenant(), head(deeds)));
        Ok(heads.filter(|(tenant, _)| after.is_none_or(|after| *tenant > after)).collect())
    }
}
