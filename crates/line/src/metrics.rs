//! Metrics of a node's lines. No label names a tenant, an agent or a gateway.

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

type Labels = [(&'static str, &'static str); 1];

/// Metrics of the lines.
#[derive(Clone, Debug, Default)]
pub struct Metrics {
    open: Gauge,
    dials: Family<Labels, Counter>,
    ended: Family<Labels, Counter>,
}

/// The result of a dial.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Dial {
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

    pub(crate) fn dialled(&self, dial: Dial) {
        let outcome = match dial {
            Dial::Welcome => "welcome",
            Dial::Revoked => "revoked",
            Dial::Unknown => "unknown",
            Dial::Unavailable => "unavailable",
            Dial::PutOff => "put_off",
        };
        self.dials.get_or_create(&[("outcome", outcome)]).inc();
    }

    pub(crate) fn opened(&self) {
        self.open.inc();
    }

    pub(crate) fn ended(&self, code: u16) {
        self.open.dec();
        self.ended.get_or_create(&[("code", label(code))]).inc();
    }
}

/// Returns the code as a label, if it is a usual one: a client may send any of thousands.
const fn label(code: u16) -> &'static str {
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
