//! Metrics of the bell.

use nightdesk_bus::HintError;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

type BellLabels = [(&'static str, &'static str); 1];

/// Metrics of the bell.
#[derive(Clone, Debug, Default)]
pub struct Metrics {
    broken: Gauge,
    broken_since: Gauge,
    breaks: Counter,
    rings: Family<BellLabels, Counter>,
    refused: Family<BellLabels, Counter>,
}

impl Metrics {
    /// Registers the metrics.
    pub fn register(&self, registry: &mut Registry) {
        registry.register(
            "broken",
            "1 if the bell between nodes is broken, 0 if it works",
            self.broken.clone(),
        );
        registry.register(
            "broken_since_seconds",
            "Unix time in seconds at which the bell broke, 0 if it works",
            self.broken_since.clone(),
        );
        registry.register("breaks", "Number of times the bell broke", self.breaks.clone());
        registry.register(
            "rings",
            "Rings published for other nodes, by outcome",
            self.rings.clone(),
        );
        registry.register("refused", "Rejected hints, by reason", self.refused.clone());
    }

    pub(crate) fn count_break(&self, second: i64) {
        self.broken.set(1);
        self.broken_since.set(second);
        self.breaks.inc();
    }

    pub(crate) fn clear_break(&self) {
        self.broken.set(0);
        self.broken_since.set(0);
    }

    pub(crate) fn count_ring(&self, heard: Option<u64>) {
        let outcome = match heard {
            Some(0) => "unheard",
            Some(_) => "heard",
            None => "unsaid",
        };
        self.rings.get_or_create(&[("outcome", outcome)]).inc();
    }

    pub(crate) fn count_refused(&self, why: HintError) {
        let reason = match why {
            HintError::Forged => "forged",
            HintError::Late => "late",
            HintError::Doubled => "doubled",
            HintError::Unreadable => "unreadable",
        };
        self.refused.get_or_create(&[("reason", reason)]).inc();
    }
}
