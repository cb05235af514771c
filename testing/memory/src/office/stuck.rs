//! Groups events that reached no agent.

use std::collections::BTreeMap;

use async_trait::async_trait;
use nightdesk_inbox::ParkReason;
use nightdesk_office::{
    ParkedGroup, ParkedKey, ParkedRow, QuarantineGroup, RefusalGroup, StuckReads,
};
use nightdesk_types::limits::LIST_ROWS_MAX;
use nightdesk_types::{StoreError, TenantScope};

use super::super::{Memory, State};
use super::{bounded, rows_max};

impl State {
    /// Returns the parked entries of a tenant with this reason that were not resubmitted, oldest first.
    fn parked_rows(&self, scope: TenantScope, reason: ParkReason) -> Vec<ParkedRow> {
        let stuck = self.agents_of(scope).flat_map(|((_, id), agent)| {
            let of_reason = agent.stuck().filter(move |(_, record)| record.reason == reason);
            of_reason.map(move |(entry, record)| ParkedRow {
                key: ParkedKey { parked_at: record.at, agent: *id, seq: entry.seq },
                agent_name: agent.name.clone(),
                at: entry.at,
                bot: entry.bot,
                chat_id: entry.chat_id,
            })
        });
        let mut stuck: Vec<ParkedRow> = stuck.collect();
        stuck.sort_by_key(|row| row.key);
        stuck
    }
}

#[async_trait]
impl StuckReads for Memory {
    async fn parked_groups(&self, scope: TenantScope) -> Result<Vec<ParkedGroup>, StoreError> {
        let state = self.lock();
        let groups = ParkReason::ALL.into_iter().filter_map(|reason| {
            let mut rows = state.parked_rows(scope, reason);
            let count = bounded(rows.len());
            Some(ParkedGroup { reason, count, newest: rows.pop()? })
        });
        Ok(groups.collect())
    }

    async fn parked_rows(
        &self,
        scope: TenantScope,
        reason: ParkReason,
        after: Option<ParkedKey>,
    ) -> Result<Vec<ParkedRow>, StoreError> {
        let mut rows = self.lock().parked_rows(scope, reason);
        rows.retain(|row| after.is_none_or(|after| row.key > after));
        rows.truncate(rows_max(LIST_ROWS_MAX));
        Ok(rows)
    }

    async fn refusal_groups(&self, scope: TenantScope) -> Result<Vec<RefusalGroup>, StoreError> {
        let state = self.lock();
        let mut groups: BTreeMap<&str, RefusalGroup> = BTreeMap::new();
        for stored in state.refusals.get(&scope).into_iter().flatten() {
            let refusal = stored.note.refusal;
            let count = groups.get(refusal.slug()).map_or(0, |group| group.count) + 1;
            let group = RefusalGroup { refusal, count, newest: stored.clone() };
            groups.insert(refusal.slug(), group);
        }
        Ok(groups.into_values().collect())
    }

    async fn quarantine_groups(
        &self,
        scope: TenantScope,
    ) -> Result<Vec<QuarantineGroup>, StoreError> {
        let state = self.lock();
        let of_tenant = state.quarantined.iter().filter(|((operator, _), _)| *operator == scope);
        let mut groups = BTreeMap::new();
        for ((_, bot), (at, event)) in
            of_tenant.flat_map(|(key, ring)| ring.iter().map(move |event| (*key, event)))
        {
            let key = (bot, event.problem.clone());
            let count = groups.get(&key).map_or(0, |group: &QuarantineGroup| group.count) + 1;
            let problem = event.problem.clone();
            groups.insert(key, QuarantineGroup { bot, problem, count, newest_at: *at });
        }
        Ok(groups.into_values().take(rows_max(LIST_ROWS_MAX)).collect())
    }
}
