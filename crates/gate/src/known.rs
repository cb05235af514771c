//! The complete reach of one bot in memory, so that a refusal needs no query.

use std::collections::{BTreeSet, HashMap};

use nightdesk_types::{AgentId, Granted, Principal, Relevance, Sight, TenantScope};

use crate::Recipient;
use crate::decide::{Decision, Extent, Grant, View, decide};
use crate::facts::{Facts, Place};

/// An agent and its tenant.
pub type Agent = (TenantScope, AgentId);

/// A person's visibility of an event's place, on platforms where it differs between people.
pub type Floor<'a> = Option<&'a (dyn Fn(&str) -> Sight + Sync)>;

/// An agent's terms for one bot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Terms {
    /// Their version. The inbox refuses an event that was admitted on an old one.
    pub version: i64,
    /// The people on its allow list.
    pub listed: BTreeSet<String>,
    /// The people bound to it.
    pub owners: Vec<String>,
    /// Its relevance policy.
    pub relevance: Relevance,
}

/// The current state of everything that changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// The version up to which it is complete.
    pub version: i64,
    /// True if it contains the complete reach.
    pub is_whole: bool,
    /// Authors and their agents; the first is the default where no other rule chooses one.
    pub authors: Vec<(String, Vec<Agent>)>,
    /// The grants, their holders, and the people who may reach the holders there.
    pub grants: Vec<(Granted, Option<Held>)>,
    /// Agents and their terms.
    pub agents: Vec<(Agent, Terms)>,
}

/// The holder of a grant, and the people who may reach it there.
pub type Held = (Agent, Principal);

/// The complete reach of one bot.
#[derive(Debug, Default)]
pub struct Known {
    version: i64,
    authors: HashMap<String, Vec<Agent>>,
    chats: HashMap<String, (Option<String>, Held)>,
    scopes: HashMap<String, Held>,
    bot: Option<Held>,
    agents: HashMap<Agent, Terms>,
}

impl Known {
    /// Returns the version up to which it is complete.
    pub const fn version(&self) -> i64 {
        self.version
    }

    /// Applies a change.
    pub fn take(&mut self, change: Change) {
        if change.is_whole {
            *self = Self::default();
        }
        self.version = change.version;
        self.agents.extend(change.agents);
        for (author, agents) in change.authors {
            put(&mut self.authors, author, (!agents.is_empty()).then_some(agents));
        }
        for (extent, held) in change.grants {
            match extent {
                Granted::Chat { chat, scope } => {
                    put(&mut self.chats, chat, held.map(|held| (scope, held)));
                }
                Granted::Scope(scope) => put(&mut self.scopes, scope, held),
                Granted::Bot => self.bot = held,
            }
        }
    }

    /// Returns true if the terms of any of these agents have changed.
    pub(crate) fn has_news_of(&self, old: &[Recipient]) -> bool {
        old.iter().any(|one| self.recipient((one.scope, one.agent)) != Some(*one))
    }

    /// Decides which agents receive an event.
    pub fn decide(&self, facts: &Facts<'_>, floor: Floor<'_>) -> Decision {
        let own = self.authors.get(facts.author).map_or(&[][..], Vec::as_slice);
        let own: Vec<Recipient> = own.iter().filter_map(|agent| self.recipient(*agent)).collect();
        decide(&View { own: &own, grant: self.grant(facts, floor) }, facts)
    }

    fn grant(&self, facts: &Facts<'_>, floor: Floor<'_>) -> Option<Grant<'_>> {
        let (extent, (agent, principal)) = self.held(&facts.place)?;
        let terms = self.agents.get(&agent)?;
        Some(Grant {
            recipient: self.recipient(agent)?,
            extent,
            principal,
            is_listed: terms.listed.contains(facts.author),
            sight: floor
                .map_or(Sight::Sees, |sees| best(terms.owners.iter().map(|owner| sees(owner)))),
            relevance: &terms.relevance,
        })
    }

    /// Returns the holder of a place. The smallest grant counts.
    fn held(&self, place: &Place<'_>) -> Option<(Extent, Held)> {
        let chat = |chat: &str| {
            let (scope, held) = self.chats.get(chat)?;
            // A chat with the same id in another scope is another chat.
            scope.as_deref().is_none_or(|scope| place.scope == Some(scope)).then_some(*held)
        };
        let scope = || self.scopes.get(place.scope?).copied();
        let with = |extent| move |held| (extent, held);
        chat(place.chat)
            .map(with(Extent::Chat))
            .or_else(|| place.parent.and_then(chat).map(with(Extent::Parent)))
            .or_else(|| scope().map(with(Extent::Scope)))
            .or_else(|| self.bot.map(with(Extent::Bot)))
    }

    fn recipient(&self, agent: Agent) -> Option<Recipient> {
        let Terms { version, .. } = *self.agents.get(&agent)?;
        Some(Recipient { scope: agent.0, agent: agent.1, version })
    }
}

fn put<V>(map: &mut HashMap<String, V>, key: String, value: Option<V>) {
    match value {
        Some(value) => drop(map.insert(key, value)),
        None => drop(map.remove(&key)),
    }
}

/// Returns the best visibility. An agent without people sees nothing.
fn best(sights: impl Iterator<Item = Sight>) -> Sight {
    sights.min().unwrap_or(Sight::Blind)
}

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;
