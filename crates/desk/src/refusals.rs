//! Queues the gate's refusals until they are written to the tenants' rings.

use std::sync::{Mutex, PoisonError};

use nightdesk_gate::{AdmissionRefusal, AdmittedEvent, RefusalNote};
use nightdesk_intake::VerifiedEvent;
use nightdesk_types::limits::REFUSAL_QUEUE_MAX;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::registry::Registry;

/// Refusals that are not stored yet. When the queue is full, further ones are only counted.
#[derive(Debug, Default)]
pub struct Refusals {
    waiting: Mutex<(Vec<RefusalNote>, u64)>,
    refused: Family<[(&'static str, &'static str); 1], Counter>,
}

impl Refusals {
    /// Registers the metrics.
    pub fn register(&self, registry: &mut Registry) {
        registry.register("refused", "Events the gate refused, by reason", self.refused.clone());
    }

    /// Records an event that has no recipient.
    pub fn record_refused(&self, event: &VerifiedEvent, refused: AdmissionRefusal) {
        self.enqueue(refusal_note(event, refused));
    }

    /// Records the agents that the gate considered and refused for an event that has other recipients.
    pub fn record_passed_over(&self, event: &AdmittedEvent) {
        for refused in event.passed_over() {
            self.enqueue(refusal_note(event.verified(), *refused));
        }
    }

    fn enqueue(&self, note: RefusalNote) {
        self.refused.get_or_create(&[("reason", note.refusal.slug())]).inc();
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.0.len() < REFUSAL_QUEUE_MAX {
            waiting.0.push(note);
        } else {
            waiting.1 += 1;
        }
    }

    /// Takes all queued refusals and the number of those that were only counted.
    pub fn take(&self) -> (Vec<RefusalNote>, u64) {
        std::mem::take(&mut *self.waiting.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A refusal goes into the ring of the tenant whose agent came closest, otherwise into the operator's.
fn refusal_note(
    event: &VerifiedEvent,
    AdmissionRefusal { agent, refusal }: AdmissionRefusal,
) -> RefusalNote {
    RefusalNote {
        scope: agent.map_or_else(|| event.operator(), |(scope, _)| scope),
        bot: event.bot(),
        event_key: event.get().key().to_owned(),
        agent: agent.map(|(_, agent)| agent),
        refusal,
    }
}

#[cfg(test)]
mod tests {
    use nightdesk_gate::Refusal;
    use nightdesk_types::{BotId, TenantId, TenantScope};
    use uuid::Uuid;

    use super::*;

    #[test]
    fn over_the_limit_refusals_are_only_counted() {
        let refusals = Refusals::default();
        let note = RefusalNote {
            scope: TenantScope::for_tenant(TenantId::from_uuid(Uuid::nil())),
            bot: BotId::from_uuid(Uuid::nil()),
            event_key: "k".to_owned(),
            agent: None,
            refusal: Refusal::UnboundAuthor,
        };
        (0..REFUSAL_QUEUE_MAX + 2).for_each(|_| refusals.enqueue(note.clone()));

        let (waiting, counted) = refusals.take();
        assert_eq!((waiting.len(), counted), (REFUSAL_QUEUE_MAX, 2));
        assert_eq!(refusals.take().0.len(), 0);
    }
}
