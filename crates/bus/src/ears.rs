//! All recipients of hints on this node.

use std::collections::{BTreeMap, HashSet};
use std::ops::Bound;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use nightdesk_types::{AgentId, BotId, GatewayId, Generation, TenantScope};

use crate::bell::{Address, Bell, Ring};
use crate::doubt::Doubt;
use crate::ear::{Ear, Order};
use crate::marks::Marks;
use crate::wait::{Settlements, Watchers};

/// The lines of this node, by agent, and the other waiting tasks. Per agent, only the newest line counts.
#[derive(Debug)]
pub struct Ears {
    node: String,
    lines: Mutex<BTreeMap<AgentId, Arc<Ear>>>,
    chats: Watchers,
    settled: Settlements,
    asked: Marks<BotId>,
    doubt: Doubt,
    changes: Arc<Marks<Address>>,
}

impl Default for Ears {
    fn default() -> Self {
        Self::of_node("")
    }
}

impl Ears {
    /// Creates the ears of a node.
    pub fn of_node(name: impl Into<String>) -> Self {
        let (name, changes) = (name.into(), Arc::<Marks<Address>>::default());
        Self {
            doubt: Doubt::of_node(&name),
            node: name,
            lines: Mutex::default(),
            chats: Watchers::marking(Arc::clone(&changes)),
            settled: Settlements::marking(Arc::clone(&changes)),
            asked: Marks::default(),
            changes,
        }
    }

    /// Opens the ear of an agent's line. An older line of the same agent gets [`Order::Replaced`].
    pub fn open(
        &self,
        scope: TenantScope,
        agent: AgentId,
        gateway: GatewayId,
        generation: Generation,
    ) -> Arc<Ear> {
        let ear = Arc::new(Ear::new(scope, agent, gateway, generation));
        let mut ears = self.lock();
        let newest = ears.get(&ear.agent).is_none_or(|other| other.generation < generation);
        let replaced =
            if newest { ears.insert(ear.agent, Arc::clone(&ear)) } else { Some(Arc::clone(&ear)) };
        drop(ears);
        if let Some(replaced) = replaced {
            replaced.tell(Order::Replaced);
        }
        self.changes.mark(Address::Agent(ear.agent));
        ear
    }

    /// Sends [`Order::Replaced`] to the agent's line on this node, and waits until the line has ended.
    pub async fn replace(&self, agent: AgentId) {
        if let Some(ear) = self.of(agent) {
            ear.tell(Order::Replaced);
            ear.closed.cancelled().await;
        }
    }

    /// Closes the ear of a line.
    pub fn close(&self, ear: &Ear) {
        ear.closed.cancel();
        let mut ears = self.lock();
        if ears.get(&ear.agent).is_some_and(|open| open.generation == ear.generation) {
            ears.remove(&ear.agent);
            self.changes.mark(Address::Agent(ear.agent));
        }
    }

    /// Returns the streams that watch chats on this node.
    pub const fn chats(&self) -> &Watchers {
        &self.chats
    }

    /// Returns the requests on this node that wait for another node to settle a send. Start to wait before the send is
    /// requested, and still poll its row.
    pub const fn settled(&self) -> &Settlements {
        &self.settled
    }

    /// Returns the bots with sends that other nodes requested. One task of this node takes them and reads the rows.
    pub const fn asked(&self) -> &Marks<BotId> {
        &self.asked
    }

    /// Returns the lines that may have missed a hint.
    pub const fn doubt(&self) -> &Doubt {
        &self.doubt
    }

    /// Returns the addresses whose subscriptions changed. The bell between nodes takes them.
    pub fn changes(&self) -> &Marks<Address> {
        &self.changes
    }

    /// Returns true if this node has a recipient at this address.
    pub fn listens_at(&self, address: &Address) -> bool {
        match address {
            Address::All => true,
            Address::Node(name) => *name == self.node,
            Address::Agent(agent) => self.lock().contains_key(agent),
            Address::Chat(bot, chat) => self.chats.has(&(*bot, chat.clone())),
        }
    }

    /// Returns every address with a recipient on this node.
    pub fn addresses(&self) -> Vec<Address> {
        let own = [Address::All, Address::Node(self.node.clone())];
        let agents: Vec<Address> = self.lock().keys().copied().map(Address::Agent).collect();
        let chats = self.chats.keys().into_iter().map(|(bot, chat)| Address::Chat(bot, chat));
        own.into_iter().chain(agents).chain(chats).collect()
    }

    /// Returns the line of an agent, if this node holds it.
    pub fn of(&self, agent: AgentId) -> Option<Arc<Ear>> {
        self.lock().get(&agent).map(Arc::clone)
    }

    /// Returns the number of an agent's line, if this node holds it.
    pub fn generation(&self, agent: AgentId) -> Option<Generation> {
        self.lock().get(&agent).map(|ear| ear.generation)
    }

    /// Returns the next agents with a line here after `last`, at most `max`, in order.
    pub fn agents_after(&self, last: Option<AgentId>, max: usize) -> Vec<(TenantScope, AgentId)> {
        let after = last.map_or(Bound::Unbounded, Bound::Excluded);
        let ears = self.lock();
        let next = ears.range((after, Bound::Unbounded)).take(max);
        next.map(|(agent, ear)| (ear.scope, *agent)).collect()
    }

    /// Returns those of these agents that have a line here.
    pub fn of_these(
        &self,
        agents: impl IntoIterator<Item = AgentId>,
    ) -> Vec<(TenantScope, AgentId)> {
        let ears = self.lock();
        let here = agents.into_iter().filter_map(|agent| ears.get(&agent));
        here.map(|ear| (ear.scope, ear.agent)).collect()
    }

    /// Returns the number of lines.
    pub fn count(&self) -> usize {
        self.lock().len()
    }

    /// Returns every gateway with a line here.
    pub fn gateways(&self) -> HashSet<GatewayId> {
        self.lock().values().map(|ear| ear.gateway).collect()
    }

    fn of_gateway(&self, gateway: GatewayId) -> Vec<Arc<Ear>> {
        self.lock().values().filter(|ear| ear.gateway == gateway).cloned().collect()
    }

    fn stop(&self, agent: AgentId, order: &Order) -> bool {
        self.of(agent).inspect(|ear| ear.tell(order.clone())).is_some()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<AgentId, Arc<Ear>>> {
        // The map is consistent at every step, also if a holder of the lock panicked.
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
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
            Ring::Stop { agent, session_key, chat_id } => {
                self.stop(agent, &Order::Stop { session_key, chat_id })
            }
            Ring::Revoked { gateway } => {
                let ears = self.of_gateway(gateway);
                for ear in &ears {
                    ear.tell(Order::Revoked);
                }
                !ears.is_empty()
            }
            Ring::Chat { bot, chat } => self.chats.ring(&(bot, chat)),
            Ring::Asked { node, bot } => {
                let own = node == self.node;
                if own {
                    self.asked.mark(bot);
                }
                own
            }
            Ring::Settled { node, agent, request } => {
                node == self.node && self.settled.ring(&(agent, request))
            }
        }
    }
}

#[cfg(test)]
mod tests;
