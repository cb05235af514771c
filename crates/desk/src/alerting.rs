//! Looks for the causes of alerts, and sends the messages about them.
//!
//! One node at a time does both. A message is a claimed row before it is sent, so another node repeats it if this one
//! dies.

mod chat;
mod webhook;

use std::collections::BTreeMap;
use std::error::Error;
use std::sync::Arc;

use nightdesk_alerts::{
    AlertChange, AlertFailure, AlertKind, AlertMessage, AlertMetrics, AlertOutcome, AlertSender,
    AlertStep, AlertStore, AlertWay, DeliveryClaim, WayKind,
};
use nightdesk_lease::{Owners, Ownership, Resource};
use nightdesk_types::StoreError;
use nightdesk_types::limits::{
    ALERT_CALL_WAIT, ALERT_CAUSES_MAX, ALERT_DELIVERIES_AT_ONCE_MAX, ALERT_DELIVERY_EVERY,
    ALERT_SLOW_SWEEP_EVERY, ALERT_SWEEP_EVERY,
};
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

pub use chat::ChatAlerts;
pub use webhook::AlertWebhooks;

use crate::sweep::repeat_every;

/// The senders of messages, by the kinds of their ways. A desk without a sender of a kind has no such ways.
pub type AlertSenders = BTreeMap<WayKind, Arc<dyn AlertSender>>;

/// Looks for the causes of alerts, and sends the messages about them.
pub struct Alerting {
    store: Arc<dyn AlertStore>,
    owners: Owners,
    senders: AlertSenders,
    tasks: TaskTracker,
    at_once: Arc<Semaphore>,
    metrics: AlertMetrics,
}

nightdesk_types::opaque_debug!(Alerting);

impl Alerting {
    /// Creates the flow. Deliveries run as these tasks.
    pub fn new(
        store: Arc<dyn AlertStore>,
        owners: Owners,
        senders: AlertSenders,
        tasks: TaskTracker,
    ) -> Self {
        let at_once = Arc::new(Semaphore::new(ALERT_DELIVERIES_AT_ONCE_MAX));
        Self { store, owners, senders, tasks, at_once, metrics: AlertMetrics::default() }
    }

    /// Returns the metrics.
    pub const fn metrics(&self) -> &AlertMetrics {
        &self.metrics
    }

    /// Returns true if this desk can send messages on ways of this kind.
    pub fn can_send(&self, kind: WayKind) -> bool {
        self.senders.contains_key(&kind)
    }

    /// Sends a message on a way, within the time of a delivery.
    pub async fn send(&self, way: &AlertWay, message: &AlertMessage) -> Result<(), AlertFailure> {
        let kind = way.target.kind();
        let Some(sender) = self.senders.get(&kind) else {
            return Err(AlertFailure(format!("this desk sends nothing by {}", kind.slug())));
        };
        let sent = timeout(ALERT_CALL_WAIT, sender.send(way, message)).await;
        sent.unwrap_or_else(|_| {
            Err(AlertFailure(format!("no response within {} s", ALERT_CALL_WAIT.as_secs())))
        })
    }

    /// Sweeps and sends until this node stops.
    pub async fn run(self: Arc<Self>, drain: CancellationToken) {
        let drain = &drain;
        tokio::join!(
            repeat_every(ALERT_SWEEP_EVERY, "look for causes of alerts", drain, || {
                self.sweep(AlertKind::QUICK)
            }),
            repeat_every(ALERT_SLOW_SWEEP_EVERY, "look for slow causes of alerts", drain, || {
                self.sweep(AlertKind::SLOW)
            }),
            repeat_every(ALERT_DELIVERY_EVERY, "send messages about alerts", drain, || {
                self.deliver()
            }),
        );
    }

    async fn is_owner(&self) -> Result<bool, StoreError> {
        let ownership = self.owners.find_or_claim(Resource::Alerts).await?;
        Ok(matches!(ownership, Ownership::Here(_)))
    }

    /// Opens, repeats and resolves the alerts of these kinds, if this node owns the task.
    pub async fn sweep(&self, kinds: &[AlertKind]) -> Result<(), StoreError> {
        if !self.is_owner().await? {
            self.metrics.set_open(kinds, &BTreeMap::new());
            return Ok(());
        }
        let scan = self.store.find_causes(kinds).await?;
        if !scan.is_complete {
            tracing::error!(
                "there are more than {ALERT_CAUSES_MAX} causes of alerts; no alert is resolved until there are fewer"
            );
        }
        let update = self.store.apply_scan(&scan).await?;
        self.metrics.set_open(kinds, &update.open);
        update.changes.iter().for_each(log_change);
        Ok(())
    }

    /// Sends the messages that are due, in the background, if this node owns the task.
    pub async fn deliver(self: &Arc<Self>) -> Result<(), StoreError> {
        let room = self.at_once.available_permits();
        if room == 0 || !self.is_owner().await? {
            return Ok(());
        }
        for claim in self.store.claim_deliveries(room).await? {
            // A claim without a permit is made again when its time is over.
            let Ok(permit) = Arc::clone(&self.at_once).try_acquire_owned() else { break };
            let alerting = Arc::clone(self);
            self.tasks.spawn(async move {
                alerting.deliver_message(&claim).await;
                drop(permit);
            });
        }
        Ok(())
    }

    async fn deliver_message(&self, claim: &DeliveryClaim) {
        let sent = self.send(&claim.way, &AlertMessage::from_claim(claim)).await;
        let outcome = match sent {
            Ok(()) => AlertOutcome::Arrived,
            Err(AlertFailure(reason)) => AlertOutcome::Failed(reason),
        };
        self.metrics.count_message(claim.way.target.kind(), &outcome);
        if let Some(reason) = outcome.failure() {
            log_failed_message(claim, reason);
        }
        if let Err(error) = self.store.record_delivery(claim, &outcome).await {
            let error = &error as &dyn Error;
            tracing::warn!(
                error,
                "the result of a message about an alert was not stored; it is sent again"
            );
        }
    }
}

fn log_change(change: &AlertChange) {
    let AlertChange { alert, step } = change;
    let (kind, tenant) = (alert.kind.slug(), alert.scope.tenant());
    let headline = alert.kind.headline(alert.count);
    let words = match step {
        AlertStep::Opened => "opened",
        AlertStep::Repeated => "still open",
        AlertStep::Resolved => "resolved",
        AlertStep::Seen => return,
    };
    tracing::warn!(tenant.id = %tenant, alert = kind, "alert {words}: {headline}");
}

fn log_failed_message(claim: &DeliveryClaim, reason: &str) {
    let DeliveryClaim { alert, way, failures, .. } = claim;
    tracing::warn!(
        way.id = %way.id,
        way.kind = way.target.kind().slug(),
        alert = alert.kind.slug(),
        failures,
        "a message about an alert did not arrive: {reason}"
    );
}
