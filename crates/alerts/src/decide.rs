//! The decision of a sweep: from the alerts, the causes and the time to the changes.
//!
//! A store locks the alerts, calls [`decide_alerts`], and writes the changes, in one transaction. PostgreSQL and memory do
//! so alike.

use std::collections::{BTreeMap, BTreeSet};

use nightdesk_types::limits::{ALERT_BACK_WITHIN, ALERT_SEEN_EVERY};
use nightdesk_types::{TenantScope, Timestamp};

use crate::alert::{Alert, later_by};
use crate::cause::{AlertCause, CauseScan};
use crate::kind::AlertKind;

#[cfg(test)]
mod tests;

/// A change of an alert, to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlertChange {
    /// The row.
    pub alert: Alert,
    /// The change.
    pub step: AlertStep,
}

/// The change of an alert.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AlertStep {
    /// It was opened.
    Opened,
    /// Its cause is still there, or has changed.
    Seen,
    /// It was repeated.
    Repeated,
    /// It was resolved.
    Resolved,
}

/// The key of an alert's row.
type AlertKey = (TenantScope, AlertKind);

/// Decides the changes. `alerts` are the newest ones of the kinds that were looked for, as far as they are open or have a
/// cause.
pub fn decide_alerts(alerts: &[Alert], scan: &CauseScan, now: Timestamp) -> Vec<AlertChange> {
    let of_kind = |alert: &&Alert| scan.kinds.contains(&alert.kind);
    let rows: BTreeMap<AlertKey, &Alert> =
        alerts.iter().filter(of_kind).map(|alert| ((alert.scope, alert.kind), alert)).collect();
    let causes: BTreeMap<AlertKey, &AlertCause> =
        scan.causes.iter().map(|cause| ((cause.scope, cause.kind), cause)).collect();
    let keys: BTreeSet<AlertKey> = rows.keys().chain(causes.keys()).copied().collect();
    let changes = keys.into_iter().filter_map(|key| match (rows.get(&key), causes.get(&key)) {
        (row, Some(cause)) => decide_present(row.copied(), cause, now),
        (Some(alert), None) if scan.is_complete => decide_absent(alert, now),
        (Some(_) | None, None) => None,
    });
    changes.collect()
}

/// Decides for a cause that is there.
fn decide_present(row: Option<&Alert>, cause: &AlertCause, now: Timestamp) -> Option<AlertChange> {
    let Some(open) = row.filter(|alert| alert.is_open()) else {
        let resolved_at = row.and_then(|alert| alert.resolved_at);
        let is_return = resolved_at.is_some_and(|at| now < later_by(at, ALERT_BACK_WITHIN));
        let alert = Alert::open(cause, is_return, now);
        return Some(AlertChange { alert, step: AlertStep::Opened });
    };
    let alert = open.clone().see(cause, now);
    if now >= open.repeated_at() {
        return Some(AlertChange { alert: alert.repeat(now), step: AlertStep::Repeated });
    }
    let is_stale = now >= later_by(open.seen_at, ALERT_SEEN_EVERY);
    (is_stale || !open.shows(cause)).then_some(AlertChange { alert, step: AlertStep::Seen })
}

/// Decides for a cause that is not there.
fn decide_absent(alert: &Alert, now: Timestamp) -> Option<AlertChange> {
    let is_over = alert.is_open() && now >= alert.clear_at();
    is_over.then(|| AlertChange { alert: alert.clone().resolve(now), step: AlertStep::Resolved })
}
