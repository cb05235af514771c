//! Ears: the lines of this node listen here.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use nightdesk_types::{AgentId, GatewayId, Generation, Seq, TenantScope};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::bell::{Bell, Ring};
use crate::watch::Watchers;

/// Orders one line may have waiting. More are dropped: each can be asked for again.
const ORDERS_MAX: usize = 16;

/// Something a line is told to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Order {
    /// Stop a turn.
    Stop {
        /// The session, by the name its gateway gave it.
        session_key: String,
        /// The chat it is held in.
        chat_id: String,
    },
    /// A newer line took over.
    Replaced,
    /// The gateway was revoked.
    Revoked,
}

/// What came since a line last listened.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Heard {
    /// The highest number the inbox is said to have.
    pub seq: Option<Seq>,
    /// What the line is told, in order.
    pub orders: Vec<Order>,
}

/// Where one line listens.
#[derive(Debug)]
pub struct Ear {
    scope: TenantScope,
    agent: AgentId,
    gateway: GatewayId,
    generation: Generation,
    rung: Notify,
    heard: Mutex<Heard>,
    closed: CancellationToken,
}

impl Ear {
    /// Waits until something may have come. It may also return for nothing.
    pub async fn rung(&self) {
        self.rung.notified().await;
    }

    /// Takes what came.
    pub fn listen(&self) -> Heard {
        std::mem::take(&mut *lock(&self.heard))
    }

    /// Says that the inbox has an entry of this number.
    pub fn hint(&self, seq: Seq) {
        let mut heard = lock(&self.heard);
        heard.seq = heard.seq.max(Some(seq));
        drop(heard);
        self.rung.notify_one();
    }

    fn tell(&self, order: Order) {
        let mut heard = lock(&self.heard);
        if heard.orders.len() < ORDERS_MAX {
            heard.orders.push(order);
        }
        drop(heard);
        self.rung.notify_one();
    }
}

/// Every line of this node, by agent. One line per agent counts: the newest.
#[derive(Debug, Default)]
pub struct Ears {
    ears: Mutex<HashMap<AgentId, Arc<Ear>>>,
    chats: Watchers,
}

impl Ears {
    /// Lets a line listen for its agent. An older line of the same agent is told.
    pub fn open(
        &self,
        (scope, agent): (TenantScope, AgentId),
        gateway: GatewayId,
        generation: Generation,
    ) -> Arc<Ear> {
        let ear = Arc::new(Ear {
            scope,
            agent,
            gateway,
            generation,
            rung: Notify::new(),
            heard: Mutex::default(),
            closed: CancellationToken::new(),
        });
        let mut ears = lock(&self.ears);
        let newest = ears.get(&agent).is_none_or(|other| other.generation < generation);
        let replaced =
            if newest { ears.insert(agent, Arc::clone(&ear)) } else { Some(Arc::clone(&ear)) };
        drop(ears);
        if let Some(replaced) = replaced {
            replaced.tell(Order::Replaced);
        }
        ear
    }

    /// Tells the line an agent has here that it is replaced, and waits until it is put away.
    pub async fn replace(&self, agent: AgentId) {
        if let Some(ear) = self.of(agent) {
            ear.tell(Order::Replaced);
            ear.closed.cancelled().await;
        }
    }

    /// Ends a line's listening.
    pub fn close(&self, ear: &Ear) {
        ear.closed.cancel();
        let mut ears = lock(&self.ears);
        if ears.get(&ear.agent).is_some_and(|open| open.generation == ear.generation) {
            ears.remove(&ear.agent);
        }
    }

    /// Who looks at chats on this node.
    pub const fn chats(&self) -> &Watchers {
        &self.chats
    }

    /// The line of an agent, if this node holds it.
    pub fn of(&self, agent: AgentId) -> Option<Arc<Ear>> {
        lock(&self.ears).get(&agent).map(Arc::clone)
    }

    /// Every agent with a line here.
    pub fn agents(&self) -> Vec<(TenantScope, AgentId)> {
        lock(&self.ears).values().map(|ear| (ear.scope, ear.agent)).collect()
    }

    /// How many lines are here.
    pub fn count(&self) -> usize {
        lock(&self.ears).len()
    }

    /// Every gateway with a line here.
    pub fn gateways(&self) -> HashSet<GatewayId> {
        lock(&self.ears).values().map(|ear| ear.gateway).collect()
    }

    fn of_gateway(&self, gateway: GatewayId) -> Vec<Arc<Ear>> {
        lock(&self.ears).values().filter(|ear| ear.gateway == gateway).cloned().collect()
    }
}

#[async_trait]
impl Bell for Ears {
    async fn ring(&self, ring: Ring) -> bool {
        match ring {
            Ring::Entry { agent, seq } => self.of(agent).inspect(|ear| ear.hint(seq)).is_some(),
            Ring::Replaced { agent, by } => self
                .of(agent)
                .filter(|ear| ear.generation < by)
                .inspect(|ear| ear.tell(Order::Replaced))
                .is_some(),
            Ring::Stop { agent, session_key, chat_id } => self
                .of(agent)
                .inspect(|ear| ear.tell(Order::Stop { session_key, chat_id }))
                .is_some(),
            Ring::Revoked { gateway } => {
                let ears = self.of_gateway(gateway);
                for ear in &ears {
                    ear.tell(Order::Revoked);
                }
                !ears.is_empty()
            }
            Ring::Chat { bot, chat } => self.chats.ring(bot, &chat),
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What is behind it is whole at every step, also if a holder panicked.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use nightdesk_types::TenantId;
    use uuid::Uuid;

    use super::*;

    const AGENT: AgentId = AgentId::from_uuid(Uuid::nil());
    const OWN: (TenantScope, AgentId) = (TenantScope::of(TenantId::from_uuid(Uuid::nil())), AGENT);
    const GATEWAY: GatewayId = GatewayId::from_uuid(Uuid::nil());

    #[tokio::test]
    async fn the_newest_line_hears_and_the_older_is_told() {
        let ears = Ears::default();
        let old = ears.open(OWN, GATEWAY, Generation::new(1));
        let new = ears.open(OWN, GATEWAY, Generation::new(2));

        assert!(ears.ring(Ring::Entry { agent: AGENT, seq: Seq::new(7) }).await);
        assert_eq!(old.listen().orders, [Order::Replaced]);
        assert_eq!(new.listen(), Heard { seq: Some(Seq::new(7)), orders: vec![] });
    }

    #[tokio::test]
    async fn a_line_that_opens_late_finds_itself_replaced() {
        let ears = Ears::default();
        let new = ears.open(OWN, GATEWAY, Generation::new(2));
        let old = ears.open(OWN, GATEWAY, Generation::new(1));
        ears.close(&old);

        assert_eq!(old.listen().orders, [Order::Replaced]);
        assert!(ears.ring(Ring::Entry { agent: AGENT, seq: Seq::new(1) }).await);
        assert_eq!(new.listen().seq, Some(Seq::new(1)), "closing the old one closed only it");
    }

    #[tokio::test]
    async fn nobody_hears_for_an_agent_without_a_line() {
        let ears = Ears::default();
        let ear = ears.open(OWN, GATEWAY, Generation::new(1));
        ears.close(&ear);

        let stop = Ring::Stop { agent: AGENT, session_key: String::new(), chat_id: String::new() };
        assert!(!ears.ring(stop).await);
    }

    #[tokio::test]
    async fn replacing_waits_until_the_old_line_is_put_away() {
        let ears = Arc::new(Ears::default());
        let old = ears.open(OWN, GATEWAY, Generation::new(1));
        let replaced = tokio::spawn({
            let ears = Arc::clone(&ears);
            async move { ears.replace(AGENT).await }
        });

        old.rung().await;
        assert_eq!(old.listen().orders, [Order::Replaced]);
        assert!(!replaced.is_finished());
        ears.close(&old);
        replaced.await.unwrap();
        ears.replace(AGENT).await;
    }

    #[test]
    fn orders_have_a_limit() {
        let ear = Ears::default().open(OWN, GATEWAY, Generation::new(1));
        (0..=ORDERS_MAX).for_each(|_| ear.tell(Order::Revoked));

        assert_eq!(ear.listen().orders.len(), ORDERS_MAX);
    }
}
