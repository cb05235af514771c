//! The ear of one line, which receives its hints.

use std::sync::PoisonError;

use nightdesk_types::{
    AgentId, GatewayId, Generation, Incarnation, Seq, StopReceiver, TenantScope,
};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::sync::{Mutex, MutexGuard};

/// Orders that may wait for one line. Further ones are dropped, because each can be sent again.
const ORDERS_MAX: usize = 16;

/// An order to a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LineOrder {
    /// Stop a turn.
    Stop {
        /// The session's key as its gateway named it.
        session_key: String,
        /// The chat of the session.
        chat_id: String,
        /// The receiver of the result, if one waits for it.
        report_to: Option<StopReceiver>,
    },
    /// A newer line took over.
    Replaced,
    /// The gateway was revoked.
    Revoked,
    /// The store was restored or rolled back.
    HistoryChanged,
}

/// A line that becomes its agent's newest.
#[derive(Clone, Copy, Debug)]
pub struct NewLine {
    /// The tenant.
    pub scope: TenantScope,
    /// The agent.
    pub agent: AgentId,
    /// The gateway.
    pub gateway: GatewayId,
    /// The history of the store in which the line began.
    pub incarnation: Incarnation,
    /// The line's number.
    pub generation: Generation,
}

impl NewLine {
    /// Returns true if this line was taken before the other one. In another history numbers begin again, so there the
    /// line that registers later counts.
    pub(crate) fn is_older_than(&self, other: &Self) -> bool {
        self.incarnation != other.incarnation || self.generation < other.generation
    }
}

/// The hints since a line last listened.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct LineHints {
    /// The highest number that a hint named.
    pub seq: Option<Seq>,
    /// The orders, in order of arrival.
    pub orders: Vec<LineOrder>,
}

/// The ear of one line.
#[derive(Debug)]
pub struct RegisteredLine {
    pub(crate) line: NewLine,
    pub(crate) closed: CancellationToken,
    ring_signal: Notify,
    hints: Mutex<LineHints>,
}

impl RegisteredLine {
    pub(crate) fn new(line: NewLine) -> Self {
        Self {
            line,
            closed: CancellationToken::new(),
            ring_signal: Notify::new(),
            hints: Mutex::default(),
        }
    }

    /// Waits until a hint may have come. It may return without one.
    pub async fn wait_for_hint(&self) {
        self.ring_signal.notified().await;
    }

    /// Takes the hints.
    pub fn take_hints(&self) -> LineHints {
        std::mem::take(&mut *self.lock_hints())
    }

    /// Adds the hint that the inbox has an entry with this number.
    pub fn add_hint(&self, seq: Seq) {
        let mut heard = self.lock_hints();
        heard.seq = heard.seq.max(Some(seq));
        drop(heard);
        self.ring_signal.notify_one();
    }

    pub(crate) fn send_order(&self, order: LineOrder) {
        let mut heard = self.lock_hints();
        if heard.orders.len() < ORDERS_MAX {
            heard.orders.push(order);
        }
        drop(heard);
        self.ring_signal.notify_one();
    }

    fn lock_hints(&self) -> MutexGuard<'_, LineHints> {
        // The state is consistent at every step, also if a holder of the lock panicked.
        self.hints.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use nightdesk_types::TenantId;
    use uuid::Uuid;

    use super::*;

    #[test]
    fn orders_have_a_limit() {
        let scope = TenantScope::for_tenant(TenantId::from_uuid(Uuid::nil()));
        let (agent, gateway) = (AgentId::from_uuid(Uuid::nil()), GatewayId::from_uuid(Uuid::nil()));
        let (incarnation, generation) = (Incarnation::new(1), Generation::new(1));
        let ear = RegisteredLine::new(NewLine { scope, agent, gateway, incarnation, generation });
        (0..=ORDERS_MAX).for_each(|_| ear.send_order(LineOrder::Revoked));

        assert_eq!(ear.take_hints().orders.len(), ORDERS_MAX);
    }
}
