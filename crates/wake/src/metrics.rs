//! Metrics of waking. No label names a tenant, an agent or a URL.

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::registry::Registry;

use crate::{CallOutcome, WakeStep};

type WakeCounters = Family<[(&'static str, &'static str); 1], Counter>;

/// The metrics of waking.
#[derive(Clone, Debug)]
pub struct Metrics {
    claims: WakeCounters,
    calls: WakeCounters,
    buried: Counter,
}

impl Default for Metrics {
    fn default() -> Self {
        let counted = |values: &[&'static str], label| {
            let family = WakeCounters::default();
            for value in values {
                // All values exist from the start, at zero.
                drop(family.get_or_create(&[(label, *value)]));
            }
            family
        };
        Self {
            claims: counted(&["call", "delayed", "held", "gave_up"], "step"),
            calls: counted(&["taken", "failed", "put_off"], "outcome"),
            buried: Counter::default(),
        }
    }
}

impl Metrics {
    /// Registers the metrics.
    pub fn register(&self, registry: &mut Registry) {
        registry.register("claims", "Claimed wakes, by step", self.claims.clone());
        registry.register("calls", "Calls to agents, by outcome", self.calls.clone());
        let help = "Lines closed because their node died";
        registry.register("buried_lines", help, self.buried.clone());
    }

    pub(crate) fn count_claim(&self, step: WakeStep) {
        let step = match step {
            WakeStep::Call => "call",
            WakeStep::Delayed => "delayed",
            WakeStep::Held => "held",
            WakeStep::GaveUp => "gave_up",
        };
        self.claims.get_or_create(&[("step", step)]).inc();
    }

    pub(crate) fn count_call(&self, outcome: &CallOutcome) {
        let outcome = match outcome {
            CallOutcome::Taken(_) => "taken",
            CallOutcome::Failed(_) => "failed",
            CallOutcome::PutOff(_) => "put_off",
        };
        self.calls.get_or_create(&[("outcome", outcome)]).inc();
    }

    pub(crate) fn count_buried(&self, lines: u64) {
        self.buried.inc_by(lines);
    }
}
