//! Metrics of a node's lines. No label names a tenant, an agent or a gateway.

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

type LineLabels = [(&'static str, &'static str); 1];

/// Metrics of the lines.
#[derive(Clone, Debug, Default)]
pub struct Metrics {
    open: Gauge,
    dials: Family<LineLabels, Counter>,
    ended: Family<LineLabels, Counter>,
}

/// The result of a dial.
#[derive(Clone, Copy, Debug)]
pub(crate) enum DialOutcome {
    Welcome,
    Revoked,
    Unknown,
    Unavailable,
    PutOff,
}

impl Metrics {
    /// Registers the metrics.
    pub fn register(&self, registry: &mut Registry) {
        registry.register("open", "Lines that are open on this node", self.open.clone());
        registry.register("dials", "Dials, by outcome", self.dials.clone());
        registry.register("ended", "Lines that ended, by close code", self.ended.clone());
    }

    pub(crate) fn count_dial(&self, dial: DialOutcome) {
        let outcome = match dial {
            DialOutcome::Welcome => "welcome",
            DialOutcome::Revoked => "revoked",
            DialOutcome::Unknown => "unknown",
            DialOutcome::Unavailable => "unavailable",
            DialOutcome::PutOff => "put_off",
        };
        self.dials.get_or_create(&[("outcome", outcome)]).inc();
    }

    pub(crate) fn count_opened(&self) {
        self.open.inc();
    }

    pub(crate) fn count_ended(&self, code: u16) {
        self.open.dec();
        self.ended.get_or_create(&[("code", code_label(code))]).inc();
    }
}

/// Returns the code as a label, if it is a usual one: a client may send any of thousands.
const fn code_label(code: u16) -> &'static str {
    match code {
        1000 => "1000",
        1001 => "1001",
        1005 => "1005",
        1006 => "1006",
        1008 => "1008",
        1009 => "1009",
        1011 => "1011",
        1012 => "1012",
        1013 => "1013",
        4401 => "4401",
        4409 => "4409",
        _ => "other",
    }
}
