//! Metrics of alerts. No label names a tenant.

use std::collections::BTreeMap;

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

use crate::delivery::AlertOutcome;
use crate::kind::AlertKind;
use crate::way::WayKind;

/// The metrics of alerts.
#[derive(Clone, Debug)]
pub struct AlertMetrics {
    open: Family<[(&'static str, &'static str); 1], Gauge>,
    messages: Family<[(&'static str, &'static str); 2], Counter>,
}

impl Default for AlertMetrics {
    fn default() -> Self {
        let metrics = Self { open: Family::default(), messages: Family::default() };
        // All values exist from the start, at zero.
        metrics.set_open(&AlertKind::ALL, &BTreeMap::new());
        for way in WayKind::ALL {
            for outcome in ["arrived", "failed"] {
                drop(metrics.messages.get_or_create(&[("way", way.slug()), ("outcome", outcome)]));
            }
        }
        metrics
    }
}

impl AlertMetrics {
    /// Registers the metrics.
    pub fn register(&self, registry: &mut Registry) {
        let help = "Open alerts of the desk and of all tenants, by kind, on the node that looks for their causes";
        registry.register("open", help, self.open.clone());
        registry.register(
            "messages",
            "Messages about alerts, by way and outcome",
            self.messages.clone(),
        );
    }

    /// Sets the number of open alerts of these kinds.
    pub fn set_open(&self, kinds: &[AlertKind], open: &BTreeMap<AlertKind, u64>) {
        for kind in kinds {
            let count = open.get(kind).copied().unwrap_or(0);
            let gauge = self.open.get_or_create(&[("kind", kind.slug())]);
            gauge.set(i64::try_from(count).unwrap_or(i64::MAX));
        }
    }

    /// Counts a message.
    pub fn count_message(&self, way: WayKind, outcome: &AlertOutcome) {
        let outcome = match outcome {
            AlertOutcome::Arrived => "arrived",
            AlertOutcome::Failed(_) => "failed",
        };
        self.messages.get_or_create(&[("way", way.slug()), ("outcome", outcome)]).inc();
    }
}
