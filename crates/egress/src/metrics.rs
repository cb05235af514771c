//! Metrics of egress. No label names a tenant, an agent or a chat.

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::registry::Registry;

use crate::SendResult;

/// Metrics of egress.
#[derive(Clone, Debug, Default)]
pub struct Metrics {
    settled: Family<[(&'static str, &'static str); 1], Counter>,
    rate_limited: Counter,
}

impl Metrics {
    /// Registers the metrics.
    pub fn register(&self, registry: &mut Registry) {
        registry.register("sends", "Sends, by outcome", self.settled.clone());
        let help = "Calls that a platform rate limited";
        registry.register("rate_limited_calls", help, self.rate_limited.clone());
    }

    pub(crate) fn count_result(&self, settled: &SendResult) {
        let outcome = match settled {
            SendResult::Delivered(_) => "delivered",
            SendResult::InParts(_) => "in_parts",
            SendResult::Failed(_) => "failed",
            SendResult::Ambiguous => "ambiguous",
        };
        self.settled.get_or_create(&[("outcome", outcome)]).inc();
    }

    pub(crate) fn count_rate_limited(&self) {
        self.rate_limited.inc();
    }
}
