//! Samples the usage of tenants, and lists nodes.

use std::time::Duration;

use async_trait::async_trait;
use nightdesk_office::{BoundedCount, NodeRecord, StoredTotals, UsageReads, UsageTotals};
use nightdesk_types::limits::NODE_LINES_COUNTED_MAX;
use nightdesk_types::{StoreError, TenantId, TenantScope, Timestamp};

use super::super::{Memory, State};

const HOUR_MS: i64 = 3_600_000;

/// Returns the number of the hour.
fn hour_of(at: Timestamp) -> i64 {
    at.as_millisecond().div_euclid(HOUR_MS)
}

impl State {
    fn newest_usage(&self, scope: TenantScope, before: Option<i64>) -> Option<UsageTotals> {
        let hours = (scope, i64::MIN)..(scope, before.unwrap_or(i64::MAX));
        self.usage.range(hours).next_back().map(|(_, totals)| *totals)
    }

    fn sample(&mut self, scope: TenantScope, now: Timestamp) {
        let before = self.newest_usage(scope, None);
        let since = before.map_or(Timestamp::MIN, |before| before.sampled_at);
        let began = self.fires.values().filter(|row| row.is_of_tenant(scope));
        let fires = began.filter(|row| row.began_at() > since && row.began_at() <= now).count();
        let mut totals = no_totals(now);
        totals.fires = before.map_or(0, |before| before.fires) + signed(fires);
        for (key, agent) in self.agents_of(scope) {
            totals.agents += 1;
            totals.messages += agent.head().get();
            totals.wakes += self.wake_logs.get(key).map_or(0, |log| log.count);
            let line = agent.line.as_ref();
            let open_ms =
                line.filter(|line| self.is_open(line)).map_or(0, |line| line.open_ms(now));
            totals.awake_ms += line.map_or(0, |line| line.awake_ms) + open_ms;
        }
        self.usage.insert((scope, hour_of(now)), totals);
    }

    fn sample_desk(&mut self, now: Timestamp) {
        let newest = self.tenants.keys().filter_map(|scope| self.newest_usage(*scope, None));
        let totals = newest.fold(no_totals(now), |sum, one| UsageTotals {
            agents: sum.agents + one.agents,
            messages: sum.messages + one.messages,
            wakes: sum.wakes + one.wakes,
            awake_ms: sum.awake_ms + one.awake_ms,
            fires: sum.fires + one.fires,
            ..sum
        });
        self.usage.insert((TenantScope::desk_own(), hour_of(now)), totals);
    }
}

fn no_totals(now: Timestamp) -> UsageTotals {
    let hour = Timestamp::from_millisecond(hour_of(now) * HOUR_MS).unwrap_or(now);
    UsageTotals { hour, sampled_at: now, agents: 0, messages: 0, wakes: 0, awake_ms: 0, fires: 0 }
}

fn signed(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

#[async_trait]
impl UsageReads for Memory {
    /// Samples all tenants at once.
    async fn sample_usage(
        &self,
        after: Option<TenantId>,
        every: Duration,
    ) -> Result<Option<TenantId>, StoreError> {
        let (now, mut state) = (self.now(), self.lock());
        let tenants: Vec<TenantScope> = state.tenants.keys().copied().collect();
        for scope in tenants.into_iter().filter(|scope| after.is_none_or(|id| scope.tenant() > id))
        {
            let last = state.newest_usage(scope, None);
            let is_new =
                last.is_some_and(|last| now.duration_since(last.sampled_at).unsigned_abs() < every);
            if !is_new {
                state.sample(scope, now);
            }
        }
        state.sample_desk(now);
        Ok(None)
    }

    async fn usage(
        &self,
        scope: TenantScope,
        since: Timestamp,
    ) -> Result<Vec<UsageTotals>, StoreError> {
        let state = self.lock();
        let of_tenant = state.usage.range((scope, i64::MIN)..=(scope, i64::MAX));
        let (older, newer): (Vec<_>, Vec<_>) =
            of_tenant.map(|(_, totals)| *totals).partition(|totals| totals.hour < since);
        Ok(older.into_iter().next_back().into_iter().chain(newer).collect())
    }

    async fn newest_usage(
        &self,
        tenants: &[TenantScope],
        before: Timestamp,
    ) -> Result<Vec<StoredTotals>, StoreError> {
        let state = self.lock();
        let totals = tenants.iter().filter_map(|scope| {
            let newest = state.newest_usage(*scope, None)?;
            let before = state.newest_usage(*scope, Some(hour_of(before)));
            Some(StoredTotals { tenant: scope.tenant(), newest, before })
        });
        Ok(totals.collect())
    }

    async fn nodes(&self) -> Result<Vec<NodeRecord>, StoreError> {
        let state = self.lock();
        let nodes = state.nodes.iter().map(|(name, row)| {
            let lines = state.agents.values().filter_map(|agent| agent.line.as_ref());
            let open = lines.filter(|line| {
                line.closed_at.is_none()
                    && (line.node.name.as_str(), line.node.epoch) == (name.as_str(), row.epoch)
            });
            let lines = BoundedCount::new(signed(open.count()), i64::from(NODE_LINES_COUNTED_MAX));
            NodeRecord {
                name: name.clone(),
                epoch: row.epoch,
                started_at: row.began_at,
                expires_at: row.expires_at,
                is_over: row.is_over,
                lines,
            }
        });
        Ok(nodes.collect())
    }
}
