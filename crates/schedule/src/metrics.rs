//! Metrics of the schedule. No label names a tenant, an agent, a job or a URL.

use std::time::Duration;

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};

use crate::fire::{Fire, FireCause};
use crate::outcome::FireOutcome;
use crate::store::CancelOutcome;

/// Buckets from five milliseconds to almost three minutes.
const LATE_BUCKETS: (f64, f64, u16) = (0.005, 2.0, 16);

type FireCounters = Family<[(&'static str, &'static str); 1], Counter>;

/// The metrics of the schedule.
#[derive(Clone, Debug)]
pub struct Metrics {
    armed: Counter,
    cancels: FireCounters,
    calls: FireCounters,
    passed: FireCounters,
    late_seconds: Histogram,
    unarmed: Counter,
}

impl Default for Metrics {
    fn default() -> Self {
        let counted = |values: &[&'static str], label| {
            let family = FireCounters::default();
            for value in values {
                // All values exist from the start, at zero.
                drop(family.get_or_create(&[(label, *value)]));
            }
            family
        };
        let (start, factor, length) = LATE_BUCKETS;
        Self {
            armed: Counter::default(),
            cancels: counted(&["cancelled", "under_way", "unknown"], "outcome"),
            calls: counted(&["taken", "again", "refused", "unauthorised", "put_off"], "outcome"),
            passed: counted(&FireCause::ALL.map(FireCause::slug), "cause"),
            late_seconds: Histogram::new(exponential_buckets(start, factor, length)),
            unarmed: Counter::default(),
        }
    }
}

impl Metrics {
    /// Registers the metrics.
    pub fn register(&self, registry: &mut Registry) {
        registry.register("armed_jobs", "Jobs that were armed", self.armed.clone());
        let help = "Cancellations by agents, by outcome";
        registry.register("cancelled_jobs", help, self.cancels.clone());
        let help = "Attempts to deliver fires to agents, by outcome";
        registry.register("calls", help, self.calls.clone());
        let help = "Fires that ended before an attempt to deliver them, by cause";
        registry.register("passed_fires", help, self.passed.clone());
        let help = "Time from a job's instant to the first attempt to deliver its fire";
        registry.register_with_unit("late", help, Unit::Seconds, self.late_seconds.clone());
        let help = "Recurring jobs that were not armed again";
        registry.register("unarmed_jobs", help, self.unarmed.clone());
    }

    pub(crate) fn count_armed(&self) {
        self.armed.inc();
    }

    pub(crate) fn count_cancel(&self, cancelled: CancelOutcome) {
        let outcome = match cancelled {
            CancelOutcome::Cancelled => "cancelled",
            CancelOutcome::UnderWay => "under_way",
            CancelOutcome::Unknown => "unknown",
        };
        self.cancels.get_or_create(&[("outcome", outcome)]).inc();
    }

    pub(crate) fn count_call(&self, outcome: &FireOutcome) {
        let outcome = match outcome {
            FireOutcome::Taken(_) => "taken",
            FireOutcome::Again(..) => "again",
            FireOutcome::Refused(_) => "refused",
            FireOutcome::Unauthorised => "unauthorised",
            FireOutcome::PutOff(_) => "put_off",
        };
        self.calls.get_or_create(&[("outcome", outcome)]).inc();
    }

    pub(crate) fn count_passed(&self, fire: &Fire) {
        if let Some(cause) = fire.cause {
            self.passed.get_or_create(&[("cause", cause.slug())]).inc();
        }
    }

    pub(crate) fn observe_lateness(&self, late: Duration) {
        self.late_seconds.observe(late.as_secs_f64());
    }

    pub(crate) fn count_unarmed(&self, jobs: usize) {
        self.unarmed.inc_by(u64::try_from(jobs).unwrap_or(u64::MAX));
    }
}
