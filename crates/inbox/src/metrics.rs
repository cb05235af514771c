//! Metrics of the inbox. No label names a tenant or an agent.

use std::time::Duration;

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};

use crate::AcceptRequest;
use crate::store::PutOutcome;

/// From half a millisecond to four seconds.
const PUT_BUCKETS: (f64, f64, u16) = (0.0005, 2.0, 14);

/// Metrics of the inbox.
#[derive(Clone, Debug)]
pub struct Metrics {
    puts: Family<InboxLabels, Counter>,
    stored: Family<InboxLabels, Counter>,
    put_seconds: Histogram,
    acked: Counter,
}

type InboxLabels = [(&'static str, &'static str); 1];

impl Default for Metrics {
    fn default() -> Self {
        let (start, factor, length) = PUT_BUCKETS;
        Self {
            puts: Family::default(),
            stored: Family::default(),
            put_seconds: Histogram::new(exponential_buckets(start, factor, length)),
            acked: Counter::default(),
        }
    }
}

impl Metrics {
    /// Registers the metrics.
    pub fn register(&self, registry: &mut Registry) {
        registry.register("puts", "Events put into the inbox, by outcome", self.puts.clone());
        registry.register(
            "stored_entries",
            "Entries stored, by the pace of their authors",
            self.stored.clone(),
        );
        registry.register_with_unit(
            "put",
            "Time from an event's admission to its commit",
            Unit::Seconds,
            self.put_seconds.clone(),
        );
        registry.register("acked_entries", "Entries acknowledged", self.acked.clone());
    }

    pub(crate) fn count_put(&self, put: Option<&PutOutcome>, took: Duration) {
        let outcome = match put {
            Some(PutOutcome::Stored(_)) => "stored",
            Some(PutOutcome::Duplicate) => "duplicate",
            Some(PutOutcome::Stale) => "stale",
            Some(PutOutcome::Fenced) => "fenced",
            None => "failed",
        };
        self.puts.get_or_create(&[("outcome", outcome)]).inc();
        self.put_seconds.observe(took.as_secs_f64());
    }

    pub(crate) fn count_stored(&self, accept: &AcceptRequest) {
        for (_, pace) in accept.paced_recipients() {
            self.stored.get_or_create(&[("pace", pace.slug())]).inc();
        }
    }

    pub(crate) fn count_acked(&self, entries: u64) {
        self.acked.inc_by(entries);
    }
}
