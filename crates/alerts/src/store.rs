//! The contract between alerts and their store.

use std::collections::BTreeMap;

use async_trait::async_trait;
use nightdesk_types::{AlertWayId, StoreError, TenantScope};

use crate::alert::Alert;
use crate::cause::{CauseScan, NodeFinding};
use crate::decide::AlertChange;
use crate::delivery::AlertOutcome;
use crate::kind::AlertKind;
use crate::message::AlertNews;
use crate::way::{AlertWay, ListedAlertWay, NewAlertWay};

/// The result of a sweep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlertUpdate {
    /// The changes that were written.
    pub changes: Vec<AlertChange>,
    /// The number of open alerts of each kind that was looked for.
    pub open: BTreeMap<AlertKind, u64>,
}

impl AlertUpdate {
    /// Counts the alerts that are open after these changes. `alerts` are the ones that the changes were decided on.
    pub fn new(alerts: &[Alert], changes: Vec<AlertChange>) -> Self {
        let later = changes.iter().map(|change| &change.alert);
        let newest: BTreeMap<_, _> =
            alerts.iter().chain(later).map(|alert| ((alert.scope, alert.kind), alert)).collect();
        let mut open = BTreeMap::new();
        for alert in newest.into_values().filter(|alert| alert.is_open()) {
            *open.entry(alert.kind).or_default() += 1;
        }
        Self { changes, open }
    }
}

/// A message that a node sends. No other node claims it while it may be under way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryClaim {
    /// The alert.
    pub alert: Alert,
    /// The name of the alert's tenant. `None`: it is the desk's.
    pub tenant_name: Option<String>,
    /// The way.
    pub way: AlertWay,
    /// The news.
    pub news: AlertNews,
    /// The number of failed tries before this one.
    pub failures: u32,
}

/// An alert in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedAlert {
    /// The alert.
    pub alert: Alert,
    /// The name of its tenant. `None`: it is the desk's.
    pub tenant_name: Option<String>,
}

/// Stores alerts and the deliveries of their messages.
#[async_trait]
pub trait AlertStore: Send + Sync {
    /// Records the causes that a node finds on its own machine, in place of its earlier ones. A report counts for
    /// [`FINDINGS_LAST`](nightdesk_types::limits::FINDINGS_LAST).
    async fn report_findings(&self, node: &str, findings: &[NodeFinding])
    -> Result<(), StoreError>;

    /// Looks for the causes of these kinds, of all tenants that live and of the desk.
    async fn find_causes(&self, kinds: &[AlertKind]) -> Result<CauseScan, StoreError>;

    /// Opens, repeats and resolves alerts, as [`decide_alerts`](crate::decide_alerts) decides.
    async fn apply_scan(&self, scan: &CauseScan) -> Result<AlertUpdate, StoreError>;

    /// Claims messages that are due, at most so many, as [`decide_delivery`](crate::decide_delivery) decides: those of a
    /// tenant's alerts for its own ways and for the ways of the desk that cover all tenants.
    async fn claim_deliveries(&self, at_most: usize) -> Result<Vec<DeliveryClaim>, StoreError>;

    /// Records the result of a delivery, as [`record_delivery`](crate::record_delivery) decides.
    async fn record_delivery(
        &self,
        claim: &DeliveryClaim,
        outcome: &AlertOutcome,
    ) -> Result<(), StoreError>;
}

/// The view of a tenant, or of the operator, on alerts and ways. The scope of the desk is
/// [`TenantScope::desk_own`].
#[async_trait]
pub trait AlertAdmin: Send + Sync {
    /// Returns the newest alert of each kind, open ones first.
    async fn alerts(&self, scope: TenantScope) -> Result<Vec<Alert>, StoreError>;

    /// Returns the open alerts of the desk and of all tenants, the newest first, at most a page.
    async fn open_alerts(&self) -> Result<Vec<NamedAlert>, StoreError>;

    /// Returns the ways, oldest first.
    async fn alert_ways(&self, scope: TenantScope) -> Result<Vec<ListedAlertWay>, StoreError>;

    /// Adds a way, and records it in the audit log.
    async fn add_alert_way(
        &self,
        scope: TenantScope,
        new: &NewAlertWay,
    ) -> Result<WayCreation, StoreError>;

    /// Removes a way, and records it. Returns false if there is none.
    async fn remove_alert_way(
        &self,
        scope: TenantScope,
        way: AlertWayId,
    ) -> Result<bool, StoreError>;

    /// Takes the permission to send a test message on a way: at most one within
    /// [`ALERT_TEST_EVERY`](nightdesk_types::limits::ALERT_TEST_EVERY).
    async fn claim_way_test(
        &self,
        scope: TenantScope,
        way: AlertWayId,
    ) -> Result<WayTest, StoreError>;
}

/// The result of adding a way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WayCreation {
    /// It was added.
    Created(AlertWay),
    /// There is a way to this target.
    Exists,
    /// There are as many ways as there may be.
    TooMany,
}

/// The result of a request to test a way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WayTest {
    /// The message may be sent.
    Claimed(AlertWay),
    /// The last test was too recent.
    TooSoon,
    /// There is no such way.
    Unknown,
}
