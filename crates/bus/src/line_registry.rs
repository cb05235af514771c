//! All recipients of hints on this node.

use std::collections::{BTreeMap, HashSet};
use std::ops::Bound;
use std::sync::{Arc, PoisonError};

use async_trait::async_trait;
use nightdesk_types::{AgentId, BotId, GatewayId, Generation, Incarnation, TenantScope};

use crate::bell::{Bell, BellAddress, Ring};
use crate::lines_in_doubt::LinesInDoubt;
use crate::mark_set::MarkSet;
use crate::registered_line::{LineOrder, NewLine, RegisteredLine};
use crate::stop_results::StopResults;
use crate::sync::{Mutex, MutexGuard};
use crate::wait::{Settlements, Watchers};

/// The lines of this node, by agent, and the other waiting tasks. Per agent, only the newest line counts.
#[derive(Debug)]
pub struct LineRegistry {
    node: String,
    lines: Mutex<BTreeMap<AgentId, Arc<RegisteredLine>>>,
    chats: Watchers,
    settlements: Settlements,
    stop_results: StopResults,
    requested_bots: MarkSet<BotId>,
    lines_in_doubt: LinesInDoubt,
    changes: Arc<MarkSet<BellAddress>>,
}

impl Default for LineRegistry {
    fn default() -> Self {
        Self::for_node("")
    }
}

impl LineRegistry {
    /// Creates the ears of a node.
    pub fn for_node(name: impl Into<String>) -> Self {
        let (name, changes) = (name.into(), Arc::<MarkSet<BellAddress>>::default());
        Self {
            lines_in_doubt: LinesInDoubt::for_node(&name),
            node: name,
            lines: Mutex::default(),
            chats: Watchers::new(Arc::clone(&changes)),
            settlements: Settlements::new(Arc::clone(&changes)),
            stop_results: StopResults::default(),
            requested_bots: MarkSet::default(),
            changes,
        }
    }

    /// Returns the name of this node.
    pub fn node(&self) -> &str {
        &self.node
    }

    /// Opens the ear of an agent's line. An older line of the same agent gets [`LineOrder::Replaced`].
    pub fn register_line(&self, line: NewLine) -> Arc<RegisteredLine> {
        let (ear, agent) = (Arc::new(RegisteredLine::new(line)), line.agent);
        let mut ears = self.lock();
        let newest = ears.get(&agent).is_none_or(|other| other.line.is_older_than(&line));
        let replaced =
            if newest { ears.insert(agent, Arc::clone(&ear)) } else { Some(Arc::clone(&ear)) };
        drop(ears);
        if let Some(replaced) = replaced {
            replaced.send_order(LineOrder::Replaced);
        }
        self.changes.mark(BellAddress::Agent(agent));
        ear
    }

    /// Sends [`LineOrder::Replaced`] to the agent's line on this node, and waits until the line has ended.
    pub async fn replace_line(&self, agent: AgentId) {
        if let Some(ear) = self.find_line(agent) {
            ear.send_order(LineOrder::Replaced);
            ear.closed.cancelled().await;
        }
    }

    /// Closes the ear of a line.
    pub fn close_line(&self, ear: &RegisteredLine) {
        ear.closed.cancel();
        let mut ears = self.lock();
        let agent = ear.line.agent;
        if ears.get(&agent).is_some_and(|open| std::ptr::eq(Arc::as_ptr(open), ear)) {
            ears.remove(&agent);
            self.changes.mark(BellAddress::Agent(agent));
        }
    }

    /// Sends [`LineOrder::HistoryChanged`] to every line that began in another history of the store.
    pub fn end_other_histories(&self, current: Incarnation) {
        let ears: Vec<Arc<RegisteredLine>> =
            self.lock().values().filter(|ear| ear.line.incarnation != current).cloned().collect();
        for ear in ears {
            ear.send_order(LineOrder::HistoryChanged);
        }
    }

    /// Returns the streams that watch chats on this node.
    pub const fn chat_watchers(&self) -> &Watchers {
        &self.chats
    }

    /// Returns the requests on this node that wait for another node to settle a send. Start to wait before the send is
    /// requested, and still poll its row.
    pub const fn settlements(&self) -> &Settlements {
        &self.settlements
    }

    /// Returns the stops of this node that wait for their results. Start to wait before the stop is rung.
    pub const fn stop_results(&self) -> &StopResults {
        &self.stop_results
    }

    /// Returns the bots with sends that other nodes requested. One task of this node takes them and reads the rows.
    pub const fn requested_bots(&self) -> &MarkSet<BotId> {
        &self.requested_bots
    }

    /// Returns the lines that may have missed a hint.
    pub const fn lines_in_doubt(&self) -> &LinesInDoubt {
        &self.lines_in_doubt
    }

    /// Returns the addresses whose subscriptions changed. The bell between nodes takes them.
    pub fn changed_addresses(&self) -> &MarkSet<BellAddress> {
        &self.changes
    }

    /// Returns true if this node has a recipient at this address.
    pub fn listens_at(&self, address: &BellAddress) -> bool {
        match address {
            BellAddress::All => true,
            BellAddress::Node(name) => *name == self.node,
            BellAddress::Agent(agent) => self.lock().contains_key(agent),
            BellAddress::Chat(bot, chat) => self.chats.has_wait(&(*bot, chat.clone())),
        }
    }

    /// Returns every address with a recipient on this node.
    pub fn addresses(&self) -> Vec<BellAddress> {
        let own = [BellAddress::All, BellAddress::Node(self.node.clone())];
        let agents: Vec<BellAddress> =
            self.lock().keys().copied().map(BellAddress::Agent).collect();
        let chats = self.chats.keys().into_iter().map(|(bot, chat)| BellAddress::Chat(bot, chat));
        own.into_iter().chain(agents).chain(chats).collect()
    }

    /// Returns the line of an agent, if this node holds it.
    pub fn find_line(&self, agent: AgentId) -> Option<Arc<RegisteredLine>> {
        self.lock().get(&agent).map(Arc::clone)
    }

    /// Returns the number of an agent's line, if this node holds it.
    pub fn generation(&self, agent: AgentId) -> Option<Generation> {
        self.lock().get(&agent).map(|ear| ear.line.generation)
    }

    /// Returns the next agents with a line here after `last`, at most `max`, in order.
    pub fn agents_after(&self, last: Option<AgentId>, max: usize) -> Vec<(TenantScope, AgentId)> {
        let after = last.map_or(Bound::Unbounded, Bound::Excluded);
        let ears = self.lock();
        let next = ears.range((after, Bound::Unbounded)).take(max);
        next.map(|(agent, ear)| (ear.line.scope, *agent)).collect()
    }

    /// Returns those of these agents that have a line here.
    pub fn lines_of_agents(
        &self,
        agents: impl IntoIterator<Item = AgentId>,
    ) -> Vec<(TenantScope, AgentId)> {
        let ears = self.lock();
        let here = agents.into_iter().filter_map(|agent| ears.get(&agent));
        here.map(|ear| (ear.line.scope, ear.line.agent)).collect()
    }

    /// Returns the number of lines.
    pub fn count(&self) -> usize {
        self.lock().len()
    }

    /// Returns every gateway with a line here.
    pub fn gateways(&self) -> HashSet<GatewayId> {
        self.lock().values().map(|ear| ear.line.gateway).collect()
    }

    fn lines_of_gateway(&self, gateway: GatewayId) -> Vec<Arc<RegisteredLine>> {
        self.lock().values().filter(|ear| ear.line.gateway == gateway).cloned().collect()
    }

    fn send_stop(&self, agent: AgentId, order: &LineOrder) -> bool {
        self.find_line(agent).inspect(|ear| ear.send_order(order.clone())).is_some()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<AgentId, Arc<RegisteredLine>>> {
        // The map is consistent at every step, also if a holder of the lock panicked.
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Bell for LineRegistry {
    async fn ring(&self, ring: Ring) -> bool {
        match ring {
            Ring::Entry { agent, seq } => {
                self.find_line(agent).inspect(|ear| ear.add_hint(seq)).is_some()
            }
            Ring::Replaced { agent, by } => self
                .find_line(agent)
                .filter(|ear| ear.line.generation < by)
                .inspect(|ear| ear.send_order(LineOrder::Replaced))
                .is_some(),
            Ring::Stop { agent, session_key, chat_id, report_to } => {
                self.send_stop(agent, &LineOrder::Stop { session_key, chat_id, report_to })
            }
            Ring::StopReported { node, stop_id, outcome } => {
                node == self.node && self.stop_results.report(&stop_id, outcome)
            }
            Ring::Revoked { gateway } => {
                let ears = self.lines_of_gateway(gateway);
                for ear in &ears {
                    ear.send_order(LineOrder::Revoked);
                }
                !ears.is_empty()
            }
            Ring::Chat { bot, chat } => self.chats.ring_key(&(bot, chat)),
            Ring::Asked { node, bot } => {
                let own = node == self.node;
                if own {
                    self.requested_bots.mark(bot);
                }
                own
            }
            Ring::Settled { node, agent, request } => {
                node == self.node && self.settlements.ring_key(&(agent, request))
            }
        }
    }
}

#[cfg(test)]
mod tests;
