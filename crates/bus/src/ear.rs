//! The ear of one line, which receives its hints.

use std::sync::{Mutex, MutexGuard, PoisonError};

use nightdesk_types::{AgentId, GatewayId, Generation, Seq, TenantScope};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// Orders that may wait for one line. Further ones are dropped, because each can be sent again.
const ORDERS_MAX: usize = 16;

/// An order to a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Order {
    /// Stop a turn.
    Stop {
        /// The session's key as its gateway named it.
        session_key: String,
        /// The chat of the session.
        chat_id: String,
    },
    /// A newer line took over.
    Replaced,
    /// The gateway was revoked.
    Revoked,
}

/// The hints since a line last listened.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Heard {
    /// The highest number that a hint named.
    pub seq: Option<Seq>,
    /// The orders, in order of arrival.
    pub orders: Vec<Order>,
}

/// The ear of one line.
#[derive(Debug)]
pub struct Ear {
    pub(crate) scope: TenantScope,
    pub(crate) agent: AgentId,
    pub(crate) gateway: GatewayId,
    pub(crate) generation: Generation,
    pub(crate) closed: CancellationToken,
    rung: Notify,
    heard: Mutex<Heard>,
}

impl Ear {
    pub(crate) fn new(
        scope: TenantScope,
        agent: AgentId,
        gateway: GatewayId,
        generation: Generation,
    ) -> Self {
        Self {
            scope,
            agent,
            gateway,
            generation,
            closed: CancellationToken::new(),
            rung: Notify::new(),
            heard: Mutex::default(),
        }
    }

    /// Waits until a hint may have come. It may return without one.
    pub async fn rung(&self) {
        self.rung.notified().await;
    }

    /// Takes the hints.
    pub fn listen(&self) -> Heard {
        std::mem::take(&mut *self.heard())
    }

    /// Adds the hint that the inbox has an entry with this number.
    pub fn hint(&self, seq: Seq) {
        let mut heard = self.heard();
        heard.seq = heard.seq.max(Some(seq));
        drop(heard);
        self.rung.notify_one();
    }

    pub(crate) fn tell(&self, order: Order) {
        let mut heard = self.heard();
        if heard.orders.len() < ORDERS_MAX {
            heard.orders.push(order);
        }
        drop(heard);
        self.rung.notify_one();
    }

    fn heard(&self) -> MutexGuard<'_, Heard> {
        // The state is consistent at every step, also if a holder of the lock panicked.
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use nightdesk_types::TenantId;
    use uuid::Uuid;

    use super::*;

    #[test]
    fn orders_have_a_limit() {
        let scope = TenantScope::of(TenantId::from_uuid(Uuid::nil()));
        let (agent, gateway) = (AgentId::from_uuid(Uuid::nil()), GatewayId::from_uuid(Uuid::nil()));
        let ear = Ear::new(scope, agent, gateway, Generation::new(1));
        (0..=ORDERS_MAX).for_each(|_| ear.tell(Order::Revoked));

        assert_eq!(ear.listen().orders.len(), ORDERS_MAX);
    }
}
