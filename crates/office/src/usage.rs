//! The usage of tenants: messages, wakes, the time awake, and fires.

use std::collections::BTreeMap;
use std::time::Duration;

use nightdesk_types::limits::{USAGE_DAYS_SHOWN, USAGE_SAMPLED_EVERY};
use nightdesk_types::{TenantId, TenantScope, Timestamp};
use nightdesk_users::{Access, Right};
use serde::Serialize;
use utoipa::ToSchema;

use crate::error::OfficeError;
use crate::office::Office;
use crate::reads::{BoundedCount, NodeRecord, StoredTotals, UsageTotals};
use crate::times::seconds;

const DAY: Duration = Duration::from_hours(24);

const HOUR_SECS: i64 = 3_600;

const MINUTE_MS: i64 = 60_000;

/// The usage of one hour or one day.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct UsageView {
    /// The beginning of the hour or the day.
    pub at: String,
    /// Entries that came into inboxes.
    pub messages: i64,
    /// Wakes that ended.
    pub wakes: i64,
    /// Minutes for which agents were awake, added up.
    pub minutes_awake: i64,
    /// Fires of jobs that began.
    pub fires: i64,
}

/// The usage of a tenant in the last days.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct TenantUsageView {
    /// The tenant.
    #[schema(value_type = String)]
    pub tenant_id: TenantId,
    /// The tenant's name.
    pub name: String,
    /// Its agents.
    pub agents: i64,
    /// The sums of the last 30 days.
    pub usage: UsageView,
}

/// A node of the desk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct NodeView {
    /// Its name.
    pub name: String,
    /// `alive`, `late` if its lease is over, or `gone` if its life was ended.
    pub state: &'static str,
    /// The number of its life.
    pub life: i64,
    /// The beginning of its life.
    pub started_at: String,
    /// The end of its lease.
    pub lease_until: String,
    /// Its open lines.
    pub lines: BoundedCount,
}

impl NodeView {
    fn new(node: NodeRecord, now: Timestamp) -> Self {
        let state = match (node.is_over, node.expires_at > now) {
            (true, _) => "gone",
            (false, true) => "alive",
            (false, false) => "late",
        };
        Self {
            name: node.name,
            state,
            life: node.epoch.get(),
            started_at: seconds(node.started_at),
            lease_until: seconds(node.expires_at),
            lines: node.lines,
        }
    }
}

/// The difference of two totals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct UsageSum {
    messages: i64,
    wakes: i64,
    awake_ms: i64,
    fires: i64,
}

impl UsageSum {
    /// Returns the usage between two totals. Without earlier ones, all counts. Totals of the desk fall when a tenant is
    /// erased.
    fn between(before: Option<&UsageTotals>, after: &UsageTotals) -> Self {
        let rise = |of: fn(&UsageTotals) -> i64| (of(after) - before.map_or(0, of)).max(0);
        Self {
            messages: rise(|totals| totals.messages),
            wakes: rise(|totals| totals.wakes),
            awake_ms: rise(|totals| totals.awake_ms),
            fires: rise(|totals| totals.fires),
        }
    }

    const fn plus(self, other: Self) -> Self {
        Self {
            messages: self.messages + other.messages,
            wakes: self.wakes + other.wakes,
            awake_ms: self.awake_ms + other.awake_ms,
            fires: self.fires + other.fires,
        }
    }

    fn view(self, at: Timestamp) -> UsageView {
        UsageView {
            at: seconds(at),
            messages: self.messages,
            wakes: self.wakes,
            minutes_awake: self.awake_ms / MINUTE_MS,
            fires: self.fires,
        }
    }
}

/// Returns the usage of each period since a time, also of those without any. A period has so many seconds.
fn usage_by_period(
    totals: &[UsageTotals],
    period_secs: i64,
    since: Timestamp,
    now: Timestamp,
) -> Vec<UsageView> {
    let period = |at: Timestamp| at.as_second().div_euclid(period_secs);
    let mut sums: BTreeMap<i64, UsageSum> =
        (period(since)..=period(now)).map(|number| (number, UsageSum::default())).collect();
    let mut before = None;
    for after in totals {
        if let Some(sum) = sums.get_mut(&period(after.hour)) {
            *sum = sum.plus(UsageSum::between(before, after));
        }
        before = Some(after);
    }
    let views = sums.into_iter().map(|(number, sum)| {
        let begins = Timestamp::from_second(number * period_secs).unwrap_or(since);
        sum.view(begins)
    });
    views.collect()
}

impl Office {
    /// Returns the usage of a tenant in each of the last 24 hours, or of the desk. The hour that lasts is sampled every
    /// five minutes.
    pub async fn usage_by_hour(
        &self,
        scope: Option<TenantScope>,
    ) -> Result<Vec<UsageView>, OfficeError> {
        let now = self.stored_time().await?;
        let since = before(now, Duration::from_hours(23));
        self.usage_since(scope, HOUR_SECS, since, now).await
    }

    /// Returns the usage of a tenant on each of the last 30 days, or of the desk.
    pub async fn usage_by_day(
        &self,
        scope: Option<TenantScope>,
    ) -> Result<Vec<UsageView>, OfficeError> {
        let now = self.stored_time().await?;
        let days = u32::try_from(USAGE_DAYS_SHOWN - 1).unwrap_or(u32::MAX);
        self.usage_since(scope, 24 * HOUR_SECS, before(now, DAY * days), now).await
    }

    async fn usage_since(
        &self,
        scope: Option<TenantScope>,
        period_secs: i64,
        since: Timestamp,
        now: Timestamp,
    ) -> Result<Vec<UsageView>, OfficeError> {
        let scope = scope.unwrap_or_else(TenantScope::desk_own);
        let begins = since.as_second().div_euclid(period_secs) * period_secs;
        let begins = Timestamp::from_second(begins).unwrap_or(since);
        let totals = self.store.usage(scope, begins).await?;
        Ok(usage_by_period(&totals, period_secs, since, now))
    }

    /// Returns the usage of a page of the tenants that the caller may see, by name, after this one.
    pub async fn tenants_usage(
        &self,
        access: &Access,
        after: &str,
    ) -> Result<Vec<TenantUsageView>, OfficeError> {
        let days = u32::try_from(USAGE_DAYS_SHOWN).unwrap_or(u32::MAX);
        let since = before(self.stored_time().await?, DAY * days);
        let mut rows = Vec::new();
        let mut scopes = Vec::new();
        for tenant in self.tenants(access, after).await? {
            if let Ok(id) = tenant.id.parse::<TenantId>()
                && let Ok(scope) = access.tenant_scope(id, Right::Read)
            {
                rows.push((id, tenant.name));
                scopes.push(scope);
            }
        }
        let totals = self.store.newest_usage(&scopes, since).await?;
        let view = |(id, name): (TenantId, String)| {
            let found = totals.iter().find(|one| one.tenant == id);
            tenant_usage(id, name, found, since)
        };
        Ok(rows.into_iter().map(view).collect())
    }

    /// Samples the usage of every tenant that no other node sampled lately.
    pub async fn sample_usage(&self) -> Result<(), OfficeError> {
        let mut after = None;
        while let Some(last) = self.store.sample_usage(after, USAGE_SAMPLED_EVERY / 2).await? {
            after = Some(last);
        }
        Ok(())
    }

    /// Returns the time of the database, which samples the usage.
    async fn stored_time(&self) -> Result<Timestamp, OfficeError> {
        Ok(self.desk.stops.register.store().time().await?)
    }

    /// Returns the nodes of the desk, by name.
    pub async fn nodes(&self) -> Result<Vec<NodeView>, OfficeError> {
        let now = self.stored_time().await?;
        let nodes = self.store.nodes().await?;
        Ok(nodes.into_iter().map(|node| NodeView::new(node, now)).collect())
    }
}

fn before(now: Timestamp, span: Duration) -> Timestamp {
    now.checked_sub(span).unwrap_or(Timestamp::UNIX_EPOCH)
}

fn tenant_usage(
    tenant_id: TenantId,
    name: String,
    totals: Option<&StoredTotals>,
    since: Timestamp,
) -> TenantUsageView {
    let sum = totals.map(|one| UsageSum::between(one.before.as_ref(), &one.newest));
    TenantUsageView {
        tenant_id,
        name,
        agents: totals.map_or(0, |one| one.newest.agents),
        usage: sum.unwrap_or_default().view(since),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn totals(hour: i64, messages: i64) -> UsageTotals {
        let hour = at(hour * HOUR_SECS);
        let (wakes, awake_ms) = (messages / 2, messages * MINUTE_MS);
        UsageTotals { hour, sampled_at: hour, agents: 3, messages, wakes, awake_ms, fires: 0 }
    }

    fn messages(views: &[UsageView]) -> Vec<i64> {
        views.iter().map(|view| view.messages).collect()
    }

    #[test]
    fn the_usage_of_an_hour_is_the_difference_of_totals() {
        let rows = [totals(9, 4), totals(10, 10), totals(12, 11)];
        let views = usage_by_period(&rows, HOUR_SECS, at(10 * HOUR_SECS), at(13 * HOUR_SECS + 5));

        assert_eq!(messages(&views), [6, 0, 1, 0]);
        assert_eq!((views[0].wakes, views[0].minutes_awake), (3, 6));
        assert_eq!(views[0].at, "1970-01-01T10:00:00Z");
        let new = usage_by_period(&rows[..1], HOUR_SECS, at(9 * HOUR_SECS), at(9 * HOUR_SECS));
        assert_eq!(messages(&new), [4], "of a new tenant all counts");
    }

    #[test]
    fn hours_are_summed_by_day_and_never_negative() {
        let day = 24 * HOUR_SECS;
        let rows = [totals(23, 5), totals(24, 7), totals(30, 9), totals(31, 2)];
        let views = usage_by_period(&rows, day, at(0), at(day));

        assert_eq!(messages(&views), [5, 4]);
    }
}
