//! Metrics of TLS.

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

/// Metrics of TLS on the public address.
#[derive(Clone, Debug, Default)]
pub struct TlsMetrics {
    handshakes: Family<[(&'static str, &'static str); 1], Counter>,
    replaced: Counter,
    reload_failed: Gauge,
    days_left: Gauge,
}

/// The result of a handshake.
#[derive(Clone, Copy, Debug)]
pub(super) enum HandshakeOutcome {
    Completed,
    Failed,
    TimedOut,
    Refused,
}

impl TlsMetrics {
    /// Registers the metrics.
    pub fn register(&self, registry: &mut Registry) {
        registry.register("handshakes", "TLS handshakes, by outcome", self.handshakes.clone());
        registry.register(
            "certificate_replaced",
            "Number of times the served certificate was replaced",
            self.replaced.clone(),
        );
        registry.register(
            "certificate_reload_failed",
            "1 if the certificate files cannot be served and the previous pair stays, 0 otherwise",
            self.reload_failed.clone(),
        );
        registry.register(
            "certificate_days_left",
            "Days until the served certificate expires; negative if it expired",
            self.days_left.clone(),
        );
    }

    pub(super) fn count_handshake(&self, outcome: HandshakeOutcome) {
        let outcome = match outcome {
            HandshakeOutcome::Completed => "completed",
            HandshakeOutcome::Failed => "failed",
            HandshakeOutcome::TimedOut => "timed_out",
            HandshakeOutcome::Refused => "refused",
        };
        self.handshakes.get_or_create(&[("outcome", outcome)]).inc();
    }

    pub(super) fn count_replaced(&self) {
        self.replaced.inc();
    }

    pub(super) fn raise_reload_failure(&self) {
        self.reload_failed.set(1);
    }

    pub(super) fn clear_reload_failure(&self) {
        self.reload_failed.set(0);
    }

    pub(super) fn set_days_left(&self, days: i64) {
        self.days_left.set(days);
    }
}
