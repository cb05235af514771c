//! The delivery of an alert's messages on one way, and its decisions.
//!
//! A store locks the alerts and rows that are due, calls [`decide_delivery`] for each, and writes the rows. The result of
//! each delivery that a node makes goes through [`record_delivery`].

use nightdesk_types::Timestamp;
use nightdesk_types::backoff::Backoff;
use nightdesk_types::limits::{
    ALERT_CLAIM_HELD, ALERT_GIVEN_UP_AFTER, ALERT_OUTCOME_BYTES_MAX, ALERT_RETRY_FIRST,
    ALERT_RETRY_MAX,
};

use crate::alert::{Alert, later_by};
use crate::message::AlertNews;
use crate::store::DeliveryClaim;

#[cfg(test)]
mod tests;

/// The row of an alert and a way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlertDelivery {
    /// The alert, by the time at which it was opened. An older one means that nothing was told of the newest.
    pub opened_at: Timestamp,
    /// The version up to which messages arrived or were given up.
    pub told_version: u32,
    /// True if a message arrived that the alert is open. Only then its end is told.
    pub is_known: bool,
    /// The time of the first try of the current message.
    pub began_at: Option<Timestamp>,
    /// The failures since the last message that arrived.
    pub failures: u32,
    /// The time of the next try. `None`: at once.
    pub next_at: Option<Timestamp>,
}

/// The result of the decision for one alert and one way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryDecision {
    /// The row to be written.
    pub row: AlertDelivery,
    /// The message to be sent by the node that claimed it. `None`: there is none.
    pub sends: Option<AlertNews>,
}

/// The result of a delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AlertOutcome {
    /// The message arrived.
    Arrived,
    /// It did not, for this reason.
    Failed(String),
}

impl AlertDelivery {
    const fn new(opened_at: Timestamp) -> Self {
        Self {
            opened_at,
            told_version: 0,
            is_known: false,
            began_at: None,
            failures: 0,
            next_at: None,
        }
    }

    /// Ends the current message: it arrived, is not needed, or is given up.
    fn finish(self, version: u32) -> Self {
        let told_version = self.told_version.max(version);
        Self { told_version, began_at: None, failures: 0, next_at: None, ..self }
    }

    fn is_given_up(&self, now: Timestamp) -> bool {
        self.began_at.is_some_and(|began_at| now >= later_by(began_at, ALERT_GIVEN_UP_AFTER))
    }
}

/// Decides whether a message about an alert is to be sent on a way. `None`: nothing changes.
pub fn decide_delivery(
    alert: &Alert,
    row: Option<&AlertDelivery>,
    now: Timestamp,
) -> Option<DeliveryDecision> {
    let of_alert = row.filter(|row| row.opened_at == alert.opened_at).cloned();
    let row = of_alert.unwrap_or_else(|| AlertDelivery::new(alert.opened_at));
    if row.told_version >= alert.version || row.next_at.is_some_and(|next_at| now < next_at) {
        return None;
    }
    let is_unheard = !alert.is_open() && !row.is_known;
    if is_unheard || row.is_given_up(now) {
        return Some(DeliveryDecision { row: row.finish(alert.version), sends: None });
    }
    let news = match (alert.is_open(), row.is_known) {
        (true, false) => AlertNews::Opened,
        (true, true) => AlertNews::Repeated,
        (false, _) => AlertNews::Resolved,
    };
    let began_at = row.began_at.or(Some(now));
    let next_at = Some(later_by(now, ALERT_CLAIM_HELD));
    Some(DeliveryDecision { row: AlertDelivery { began_at, next_at, ..row }, sends: Some(news) })
}

/// Records the result of a delivery. `None`: the row is of another alert, or another node recorded a result.
pub fn record_delivery(
    row: &AlertDelivery,
    claim: &DeliveryClaim,
    outcome: &AlertOutcome,
    now: Timestamp,
) -> Option<AlertDelivery> {
    let DeliveryClaim { alert, failures, news, .. } = claim;
    let is_current = row.opened_at == alert.opened_at
        && row.failures == *failures
        && row.told_version < alert.version;
    if !is_current {
        return None;
    }
    Some(match outcome {
        AlertOutcome::Arrived => {
            let is_known = row.is_known || news.is_of_open_alert();
            AlertDelivery { is_known, ..row.clone().finish(alert.version) }
        }
        AlertOutcome::Failed(_) => {
            let failures = failures.saturating_add(1);
            let wait = Backoff { first: ALERT_RETRY_FIRST, max: ALERT_RETRY_MAX }.after(failures);
            AlertDelivery { failures, next_at: Some(later_by(now, wait)), ..row.clone() }
        }
    })
}

impl AlertOutcome {
    /// Returns the reason of a failure, short enough for its row.
    pub fn failure(&self) -> Option<&str> {
        match self {
            Self::Arrived => None,
            Self::Failed(reason) => {
                let end = reason.floor_char_boundary(ALERT_OUTCOME_BYTES_MAX);
                reason.get(..end)
            }
        }
    }
}
