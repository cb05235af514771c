//! Implements the view of a tenant, or of the operator, on alerts and ways.

use async_trait::async_trait;
use nightdesk_alerts::{
    Alert, AlertAdmin, AlertWay, ListedAlertWay, NamedAlert, NewAlertWay, WayCreation, WayTarget,
    WayTest,
};
use nightdesk_register::audit::Kind;
use nightdesk_types::limits::{ALERT_TEST_EVERY, ALERT_WAYS_MAX, LIST_ROWS_MAX};
use nightdesk_types::{AlertWayId, StoreError, TenantScope};
use serde_json::json;

use super::{WayRow, has_been_within};
use crate::Memory;

/// Returns true if two targets exclude each other: the salt of a URL and the agent of a chat do not matter.
fn is_same_target(one: &WayTarget, other: &WayTarget) -> bool {
    match (one, other) {
        (WayTarget::Webhook(one), WayTarget::Webhook(other)) => one.url == other.url,
        (WayTarget::Mail(one), WayTarget::Mail(other)) => one == other,
        (WayTarget::Chat(one), WayTarget::Chat(other)) => {
            (one.bot, &one.chat_id) == (other.bot, &other.chat_id)
        }
        (WayTarget::Webhook(_) | WayTarget::Mail(_) | WayTarget::Chat(_), _) => false,
    }
}

#[async_trait]
impl AlertAdmin for Memory {
    async fn alerts(&self, scope: TenantScope) -> Result<Vec<Alert>, StoreError> {
        let state = self.lock();
        let own = state.alerts.alerts.values().filter(|alert| alert.scope == scope);
        let mut alerts: Vec<Alert> = own.cloned().collect();
        alerts.sort_by_key(|alert| {
            (!alert.is_open(), std::cmp::Reverse(alert.changed_at), alert.kind.slug())
        });
        Ok(alerts)
    }

    async fn open_alerts(&self) -> Result<Vec<NamedAlert>, StoreError> {
        let state = self.lock();
        let open = state.alerts.alerts.values().filter(|alert| alert.is_open());
        let mut open: Vec<Alert> = open.cloned().collect();
        open.sort_by_key(|alert| {
            (std::cmp::Reverse(alert.opened_at), alert.scope, alert.kind.slug())
        });
        let most = usize::try_from(LIST_ROWS_MAX).unwrap_or(usize::MAX);
        let named = open
            .into_iter()
            .take(most)
            .map(|alert| NamedAlert { tenant_name: state.tenant_name(alert.scope), alert });
        Ok(named.collect())
    }

    async fn alert_ways(&self, scope: TenantScope) -> Result<Vec<ListedAlertWay>, StoreError> {
        let state = self.lock();
        let own = state.alerts.ways.iter().filter(|row| row.way.scope == scope);
        let listed = own.map(|row| ListedAlertWay {
            way: row.way.clone(),
            created_at: row.created_at,
            told_at: row.told_at,
            failure: row.failure.clone(),
        });
        Ok(listed.collect())
    }

    async fn add_alert_way(
        &self,
        scope: TenantScope,
        new: &NewAlertWay,
    ) -> Result<WayCreation, StoreError> {
        let (created_at, mut state) = (self.now(), self.lock());
        let own = || state.alerts.ways.iter().filter(|row| row.way.scope == scope);
        if i64::try_from(own().count()).is_ok_and(|count| count >= ALERT_WAYS_MAX) {
            return Ok(WayCreation::TooMany);
        }
        if own().any(|row| is_same_target(&row.way.target, &new.target)) {
            return Ok(WayCreation::Exists);
        }
        let id = AlertWayId::from_uuid(state.mint());
        let NewAlertWay { target, coverage } = new.clone();
        let way = AlertWay { scope, id, target, coverage };
        let about = json!({
            "way_id": id, "kind": way.target.kind().slug(), "coverage": coverage.slug()
        });
        state.alerts.ways.push(WayRow {
            way: way.clone(),
            created_at,
            told_at: None,
            failure: None,
            tested_at: None,
        });
        self.tell(&mut state, scope, Kind::AlertWayAdded, &about);
        Ok(WayCreation::Created(way))
    }

    async fn remove_alert_way(
        &self,
        scope: TenantScope,
        way: AlertWayId,
    ) -> Result<bool, StoreError> {
        let mut state = self.lock();
        let is_it = |row: &WayRow| row.way.scope == scope && row.way.id == way;
        let Some(nth) = state.alerts.ways.iter().position(is_it) else { return Ok(false) };
        let removed = state.alerts.ways.remove(nth);
        state.alerts.deliveries.retain(|(_, id), _| *id != way);
        let about = json!({ "way_id": way, "kind": removed.way.target.kind().slug() });
        self.tell(&mut state, scope, Kind::AlertWayRemoved, &about);
        Ok(true)
    }

    async fn claim_way_test(
        &self,
        scope: TenantScope,
        way: AlertWayId,
    ) -> Result<WayTest, StoreError> {
        let (now, mut state) = (self.now(), self.lock());
        let is_it = |row: &&mut WayRow| row.way.scope == scope && row.way.id == way;
        let Some(row) = state.alerts.ways.iter_mut().find(is_it) else {
            return Ok(WayTest::Unknown);
        };
        if row.tested_at.is_some_and(|at| has_been_within(at, ALERT_TEST_EVERY, now)) {
            return Ok(WayTest::TooSoon);
        }
        row.tested_at = Some(now);
        Ok(WayTest::Claimed(row.way.clone()))
    }
}
