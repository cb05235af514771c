//! The complete reach of one bot in memory, so that a refusal needs no query.

use std::collections::{BTreeSet, HashMap};

use nightdesk_types::{AgentId, GrantTarget, Principal, Relevance, TenantScope, Visibility};

use crate::Recipient;
use crate::decide::{Decision, GrantExtent, PlaceGrant, ReachView, decide};
use crate::facts::{EventFacts, EventPlace};

/// An agent and its tenant.
pub type ScopedAgent = (TenantScope, AgentId);

/// A person's visibility of an event's place, on platforms where it differs between people.
pub type VisibilityLookup<'a> = Option<&'a (dyn Fn(&str) -> Visibility + Sync)>;

/// An agent's terms for one bot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentTerms {
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
pub struct ReachChange {
    /// The version up to which it is complete.
    pub version: i64,
    /// True if it contains the complete reach.
    pub is_whole: bool,
    /// Authors and their agents; the first is the default where no other rule chooses one.
    pub authors: Vec<(String, Vec<ScopedAgent>)>,
    /// The grants, their holders, and the people who may reach the holders there.
    pub grants: Vec<(GrantTarget, Option<GrantHolder>)>,
    /// Agents and their terms.
    pub agents: Vec<(ScopedAgent, AgentTerms)>,
}

/// The holder of a grant, and the people who may reach it there.
pub type GrantHolder = (ScopedAgent, Principal);

/// The complete reach of one bot.
#[derive(Debug, Default)]
pub struct BotReach {
    version: i64,
    authors: HashMap<String, Vec<ScopedAgent>>,
    chats: HashMap<String, (Option<String>, GrantHolder)>,
    scopes: HashMap<String, GrantHolder>,
    bot: Option<GrantHolder>,
    agents: HashMap<ScopedAgent, AgentTerms>,
}

impl BotReach {
    /// Returns the version up to which it is complete.
    pub const fn version(&self) -> i64 {
        self.version
    }

    /// Applies a change.
    pub fn apply(&mut self, change: ReachChange) {
        if change.is_whole {
            *self = Self::default();
        }
        self.version = change.version;
        self.agents.extend(change.agents);
        for (author, agents) in change.authors {
            set_or_remove(&mut self.authors, author, (!agents.is_empty()).then_some(agents));
        }
        for (extent, held) in change.grants {
            match extent {
                GrantTarget::Chat { chat, scope } => {
                    set_or_remove(&mut self.chats, chat, held.map(|held| (scope, held)));
                }
                GrantTarget::Scope(scope) => set_or_remove(&mut self.scopes, scope, held),
                GrantTarget::Bot => self.bot = held,
            }
        }
    }

    /// Returns true if the terms of any of these agents have changed.
    pub(crate) fn has_newer_terms(&self, old: &[Recipient]) -> bool {
        old.iter().any(|one| self.recipient((one.scope, one.agent)) != Some(*one))
    }

    /// Decides which agents receive an event.
    pub fn decide(&self, facts: &EventFacts<'_>, floor: VisibilityLookup<'_>) -> Decision {
        let own = self.authors.get(facts.author).map_or(&[][..], Vec::as_slice);
        let own: Vec<Recipient> = own.iter().filter_map(|agent| self.recipient(*agent)).collect();
        decide(&ReachView { own: &own, grant: self.find_grant(facts, floor) }, facts)
    }

    fn find_grant(
        &self,
        facts: &EventFacts<'_>,
        floor: VisibilityLookup<'_>,
    ) -> Option<PlaceGrant<'_>> {
        let (extent, (agent, principal)) = self.find_holder(&facts.place)?;
        let terms = self.agents.get(&agent)?;
        Some(PlaceGrant {
            recipient: self.recipient(agent)?,
            extent,
            principal,
            is_listed: terms.listed.contains(facts.author),
            sight: floor.map_or(Visibility::Sees, |sees| {
                best_visibility(terms.owners.iter().map(|owner| sees(owner)))
            }),
            relevance: &terms.relevance,
        })
    }

    /// Returns the holder of a place. The smallest grant counts.
    fn find_holder(&self, place: &EventPlace<'_>) -> Option<(GrantExtent, GrantHolder)> {
        let chat = |chat: &str| {
            let (scope, held) = self.chats.get(chat)?;
            // A chat with the same id in another scope is another chat.
            scope.as_deref().is_none_or(|scope| place.scope == Some(scope)).then_some(*held)
        };
        let scope = || self.scopes.get(place.scope?).copied();
        let with = |extent| move |held| (extent, held);
        chat(place.chat)
            .map(with(GrantExtent::Chat))
            .or_else(|| place.parent.and_then(chat).map(with(GrantExtent::Parent)))
            .or_else(|| scope().map(with(GrantExtent::Scope)))
            .or_else(|| self.bot.map(with(GrantExtent::Bot)))
    }

    fn recipient(&self, agent: ScopedAgent) -> Option<Recipient> {
        let AgentTerms { version, .. } = *self.agents.get(&agent)?;
        Some(Recipient { scope: agent.0, agent: agent.1, version })
    }
}

fn set_or_remove<V>(map: &mut HashMap<String, V>, key: String, value: Option<V>) {
    match value {
        Some(value) => drop(map.insert(key, value)),
        None => drop(map.remove(&key)),
    }
}

/// Returns the best visibility. An agent without people sees nothing.
fn best_visibility(sights: impl Iterator<Item = Visibility>) -> Visibility {
    sights.min().unwrap_or(Visibility::Blind)
}

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;
