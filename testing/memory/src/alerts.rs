//! Implements the store of alerts: it finds the causes, and writes the rows that `nightdesk-alerts` decides.

mod admin;
mod causes;

use std::collections::BTreeMap;

use async_trait::async_trait;
use nightdesk_alerts::{
    Alert, AlertDelivery, AlertKind, AlertOutcome, AlertStore, AlertUpdate, AlertWay, CauseScan,
    DeliveryClaim, NodeFinding, WayCoverage, decide_alerts, decide_delivery, one_line,
    record_delivery,
};
use nightdesk_types::limits::{ALERT_CAUSES_MAX, ALERT_DUE_WITHIN};
use nightdesk_types::{AlertWayId, StoreError, TenantScope, Timestamp};

use super::{Memory, State};

/// The tables of alerts.
#[derive(Default)]
pub(super) struct AlertTables {
    alerts: BTreeMap<AlertKey, Alert>,
    /// Oldest first.
    ways: Vec<WayRow>,
    deliveries: BTreeMap<(AlertKey, AlertWayId), AlertDelivery>,
    /// By node.
    findings: BTreeMap<String, Vec<FindingRow>>,
}

type AlertKey = (TenantScope, AlertKind);

/// A way's row.
struct WayRow {
    way: AlertWay,
    created_at: Timestamp,
    told_at: Option<Timestamp>,
    failure: Option<String>,
    tested_at: Option<Timestamp>,
}

/// A cause that a node found on its own machine.
#[derive(Clone)]
struct FindingRow {
    found: NodeFinding,
    since: Timestamp,
    reported_at: Timestamp,
}

impl State {
    /// Returns the alerts and ways with a message that may be due.
    fn due_alerts(&self, now: Timestamp) -> Vec<(Alert, AlertWay)> {
        let is_recent = |alert: &&Alert| has_been_within(alert.changed_at, ALERT_DUE_WITHIN, now);
        let mut alerts: Vec<&Alert> = self.alerts.alerts.values().filter(is_recent).collect();
        alerts.sort_by_key(|alert| (alert.changed_at, alert.scope, alert.kind));
        let pairs = alerts.into_iter().flat_map(|alert| {
            let ways = self.alerts.ways.iter().map(|row| &row.way);
            ways.filter(move |way| covers(way, alert)).map(move |way| (alert.clone(), way.clone()))
        });
        pairs.collect()
    }
}

/// Returns true if a way gets the messages about an alert.
fn covers(way: &AlertWay, alert: &Alert) -> bool {
    way.scope == alert.scope || way.coverage == WayCoverage::AllTenants
}

/// Returns true if a moment is less than this long ago.
fn has_been_within(at: Timestamp, span: std::time::Duration, now: Timestamp) -> bool {
    at.checked_add(span).is_ok_and(|end| now < end)
}

#[async_trait]
impl AlertStore for Memory {
    async fn report_findings(
        &self,
        node: &str,
        findings: &[NodeFinding],
    ) -> Result<(), StoreError> {
        let (now, mut state) = (self.now(), self.lock());
        let before = state.alerts.findings.remove(node).unwrap_or_default();
        let rows = findings.iter().enumerate().map(|(nth, found)| {
            let same = before.get(nth).filter(|row| row.found.kind == found.kind);
            let found = NodeFinding { kind: found.kind, subject: one_line(&found.subject) };
            FindingRow { found, since: same.map_or(now, |row| row.since), reported_at: now }
        });
        let rows = rows.collect();
        state.alerts.findings.insert(node.to_owned(), rows);
        Ok(())
    }

    async fn find_causes(&self, kinds: &[AlertKind]) -> Result<CauseScan, StoreError> {
        let (now, state) = (self.now(), self.lock());
        let causes = state.causes(kinds, now);
        let is_complete = causes.len() < ALERT_CAUSES_MAX;
        Ok(CauseScan { kinds: kinds.to_vec(), causes, is_complete })
    }

    async fn apply_scan(&self, scan: &CauseScan) -> Result<AlertUpdate, StoreError> {
        let (now, mut state) = (self.now(), self.lock());
        let has_cause = |alert: &Alert| {
            scan.causes.iter().any(|cause| (cause.scope, cause.kind) == (alert.scope, alert.kind))
        };
        let rows = state.alerts.alerts.values();
        let is_looked_at = |alert: &&Alert| {
            (alert.is_open() && scan.kinds.contains(&alert.kind)) || has_cause(alert)
        };
        let alerts: Vec<Alert> = rows.filter(is_looked_at).cloned().collect();
        let changes = decide_alerts(&alerts, scan, now);
        for change in &changes {
            let key = (change.alert.scope, change.alert.kind);
            state.alerts.alerts.insert(key, change.alert.clone());
        }
        Ok(AlertUpdate::new(&alerts, changes))
    }

    async fn claim_deliveries(&self, at_most: usize) -> Result<Vec<DeliveryClaim>, StoreError> {
        let (now, mut state) = (self.now(), self.lock());
        let mut claims = Vec::new();
        for (alert, way) in state.due_alerts(now) {
            if claims.len() == at_most {
                break;
            }
            let key = ((alert.scope, alert.kind), way.id);
            let row = state.alerts.deliveries.get(&key);
            let Some(decision) = decide_delivery(&alert, row, now) else { continue };
            let failures = decision.row.failures;
            state.alerts.deliveries.insert(key, decision.row);
            let tenant_name = state.tenant_name(alert.scope);
            let claim = |news| DeliveryClaim { alert, tenant_name, way, news, failures };
            claims.extend(decision.sends.map(claim));
        }
        Ok(claims)
    }

    async fn record_delivery(
        &self,
        claim: &DeliveryClaim,
        outcome: &AlertOutcome,
    ) -> Result<(), StoreError> {
        let (now, mut state) = (self.now(), self.lock());
        let DeliveryClaim { alert, way, .. } = claim;
        let key = ((alert.scope, alert.kind), way.id);
        let row = state.alerts.deliveries.get(&key);
        let Some(next) = row.and_then(|row| record_delivery(row, claim, outcome, now)) else {
            return Ok(());
        };
        state.alerts.deliveries.insert(key, next);
        if let Some(row) = state.alerts.ways.iter_mut().find(|row| row.way.id == way.id) {
            row.failure = outcome.failure().map(str::to_owned);
            row.told_at = if row.failure.is_none() { Some(now) } else { row.told_at };
        }
        Ok(())
    }
}
