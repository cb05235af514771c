//! Metrics of letters. No label names a tenant, an agent or a URL.

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::registry::Registry;

use crate::delivery_method::DeliveryMethod;
use crate::error::ConnectorError;
use crate::receipt::DeliveryOutcome;

/// The causes of failed deliveries, by [`ConnectorError::slug`].
const CAUSES: [&str; 9] = [
    "unknown-agent",
    "client_validation",
    "refused",
    "full",
    "too-fast",
    "network",
    "timeout",
    "http_status",
    "not-implemented",
];

type CounterFamily<const N: usize> = Family<[(&'static str, &'static str); N], Counter>;

/// The metrics of letters.
#[derive(Clone, Debug)]
pub struct Metrics {
    taken: CounterFamily<1>,
    delivered: CounterFamily<2>,
    refused: CounterFamily<2>,
    exchanges: CounterFamily<2>,
}

impl Default for Metrics {
    /// Creates the metrics with all values at zero.
    fn default() -> Self {
        let (taken, delivered, refused, exchanges) = (
            CounterFamily::default(),
            CounterFamily::default(),
            CounterFamily::default(),
            CounterFamily::default(),
        );
        for way in DeliveryMethod::ALL.map(DeliveryMethod::slug) {
            drop(taken.get_or_create(&[("way", way)]));
            for route in ["deliver", "wake"] {
                drop(delivered.get_or_create(&[("way", way), ("route", route)]));
            }
            for cause in CAUSES {
                drop(refused.get_or_create(&[("way", way), ("cause", cause)]));
            }
            for outcome in ["answered", "timed_out", "refused"] {
                drop(exchanges.get_or_create(&[("way", way), ("outcome", outcome)]));
            }
        }
        Self { taken, delivered, refused, exchanges }
    }
}

impl Metrics {
    /// Registers the metrics.
    pub fn register(&self, registry: &mut Registry) {
        let help = "Letters submitted for delivery, by way";
        registry.register("letters_taken", help, self.taken.clone());
        let help = "Delivered letters, by way and route";
        registry.register("letters_delivered", help, self.delivered.clone());
        let help = "Letters that were not delivered, by way and cause";
        registry.register("letters_refused", help, self.refused.clone());
        let help = "Finished exchanges, by way and outcome";
        registry.register("exchanges", help, self.exchanges.clone());
    }

    /// Counts a letter that takes this way.
    pub fn count_letter(&self, way: DeliveryMethod) {
        self.taken.get_or_create(&[("way", way.slug())]).inc();
    }

    /// Counts the result of a letter.
    pub fn count_outcome(&self, way: DeliveryMethod, outcome: &DeliveryOutcome) {
        let route = match outcome {
            DeliveryOutcome::Delivered(_) => "deliver",
            DeliveryOutcome::Woken(_) => "wake",
            DeliveryOutcome::Failed(failure) => return self.count_refusal(way, &failure.cause),
        };
        self.delivered.get_or_create(&[("way", way.slug()), ("route", route)]).inc();
    }

    /// Counts the result of an exchange.
    pub fn count_exchange<T>(&self, way: DeliveryMethod, result: &Result<T, ConnectorError>) {
        let outcome = match result {
            Ok(_) => "answered",
            Err(ConnectorError::Timeout { .. }) => "timed_out",
            Err(error) => {
                self.count_refusal(way, error.slug());
                "refused"
            }
        };
        self.exchanges.get_or_create(&[("way", way.slug()), ("outcome", outcome)]).inc();
    }

    fn count_refusal(&self, way: DeliveryMethod, cause: &str) {
        let known = CAUSES.into_iter().find(|known| *known == cause);
        let cause = known.unwrap_or("refused");
        self.refused.get_or_create(&[("way", way.slug()), ("cause", cause)]).inc();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use prometheus_client::encoding::text::encode;

    use super::*;
    use crate::error::FailureCause;

    #[test]
    fn every_cause_is_counted_by_its_own_name() {
        let causes = [
            FailureCause::UnknownAgent,
            FailureCause::Invalid(String::new()),
            FailureCause::Refused("no"),
            FailureCause::Full,
            FailureCause::TooFast { retry_after: Duration::ZERO },
            FailureCause::Network(String::new()),
            FailureCause::TimedOut,
            FailureCause::Status(500),
        ];
        let metrics = Metrics::default();
        for cause in causes {
            metrics.count_outcome(
                DeliveryMethod::Tmux,
                &DeliveryOutcome::Failed(cause.into_error("a").into()),
            );
        }
        metrics.count_exchange::<()>(
            DeliveryMethod::Tmux,
            &Err(ConnectorError::NotImplemented("exchange")),
        );

        let mut registry = Registry::default();
        metrics.register(&mut registry);
        let mut text = String::new();
        encode(&mut text, &registry).unwrap();
        for cause in CAUSES {
            let line = format!("letters_refused_total{{way=\"tmux\",cause=\"{cause}\"}} 1");
            assert!(text.contains(&line), "{line}\n{text}");
        }
        assert!(text.contains("exchanges_total{way=\"tmux\",outcome=\"refused\"} 1"));
    }
}
