//! The gate's store.

use async_trait::async_trait;
use jiff::SignedDuration;
use nightdesk_gate::decide::{Grant, Principal};
use nightdesk_gate::{Reach, Recipient, RefusalNote, Snapshot, Store};
use nightdesk_types::limits::{REACHED_DAYS, RECIPIENTS_MAX, REFUSALS_KEPT_MAX};
use nightdesk_types::{AgentId, BotId, StoreError, TenantScope, Timestamp};

use super::{Memory, State, push_bounded};

/// A person on a platform, and their agent.
#[derive(PartialEq, Eq)]
pub(super) struct Binding {
    pub(super) scope: TenantScope,
    pub(super) agent: AgentId,
    pub(super) bot: BotId,
    pub(super) author: String,
}

/// A chat, and the one agent that may be reached there.
pub(super) struct GrantRow {
    pub(super) scope: TenantScope,
    pub(super) agent: AgentId,
    pub(super) principal: Principal,
}

/// Every chat of a bot.
const EVERY_CHAT: &str = "*";

#[async_trait]
impl Store for Memory {
    async fn snapshot(&self, bot: BotId, author: &str, chat: &str) -> Result<Snapshot, StoreError> {
        let state = self.lock();
        let binding = |binding: &&Binding| binding.bot == bot && binding.author == author;
        let bound = state.bindings.iter().filter(binding);
        let bound = bound.filter_map(|binding| state.recipient_now(binding.scope, binding.agent));
        let granted = [chat, EVERY_CHAT].into_iter().filter_map(|chat| {
            let row = state.grants.get(&(bot, chat.to_owned()))?;
            let recipient = state.recipient_now(row.scope, row.agent)?;
            Some(Grant { recipient, principal: row.principal })
        });
        Ok(Snapshot { bound: bound.take(RECIPIENTS_MAX).collect(), granted: granted.collect() })
    }

    async fn reaches(
        &self,
        scope: TenantScope,
        agent: AgentId,
        chat: &str,
    ) -> Result<Vec<Reach>, StoreError> {
        let now = self.now();
        let state = self.lock();
        let may = |bot: BotId| {
            let grant = state.grants.get(&(bot, chat.to_owned()));
            // Every chat is not one an agent may write to first.
            let granted = chat != EVERY_CHAT
                && grant.is_some_and(|row| (row.scope, row.agent) == (scope, agent));
            // Where a person's chat has the person's id, a binding is a direct chat.
            let is_direct = state.is_bound((scope, agent), bot, Some(chat));
            let reached = state.was_reached((scope, agent), chat, bot, now)
                && (state.is_bound((scope, agent), bot, None)
                    || state.is_granted((scope, agent), bot));
            granted || is_direct || reached
        };
        let bots = state.bots.iter().filter(|(bot, _)| may(**bot));
        let reach = |(bot, row): (&BotId, &super::register::BotRow)| Reach {
            bot: *bot,
            platform: row.new.platform.clone(),
            handle: row.new.handle.clone(),
        };
        Ok(bots.map(reach).collect())
    }

    async fn note_refusals(&self, notes: &[RefusalNote]) -> Result<(), StoreError> {
        let mut state = self.lock();
        for note in notes {
            let ring = state.refusals.entry(note.scope).or_default();
            push_bounded(ring, note.clone(), REFUSALS_KEPT_MAX);
        }
        Ok(())
    }
}

impl State {
    fn recipient_now(&self, scope: TenantScope, agent: AgentId) -> Option<Recipient> {
        let version = self.agents.get(&(scope, agent))?.reach_version;
        Some(Recipient { scope, agent, version })
    }

    /// Whether an agent is bound on a bot to this author, or to anybody.
    fn is_bound(&self, agent: super::AgentKey, bot: BotId, author: Option<&str>) -> bool {
        self.bindings.iter().any(|binding| {
            (binding.scope, binding.agent, binding.bot) == (agent.0, agent.1, bot)
                && author.is_none_or(|author| binding.author == author)
        })
    }

    /// Whether an agent was granted anything on a bot.
    fn is_granted(&self, agent: super::AgentKey, bot: BotId) -> bool {
        let of_bot = |(at, _): &(BotId, String)| *at == bot;
        let mut granted = self.grants.iter().filter(|(place, _)| of_bot(place));
        granted.any(|(_, row)| (row.scope, row.agent) == agent)
    }

    fn was_reached(&self, agent: super::AgentKey, chat: &str, bot: BotId, now: Timestamp) -> bool {
        let kept = SignedDuration::from_hours(i64::from(REACHED_DAYS) * 24);
        let reached = self.agents.get(&agent).map(|agent| &agent.reached);
        let at = reached.and_then(|reached| reached.get(&(chat.to_owned(), bot)));
        at.is_some_and(|at| now.duration_since(*at) < kept)
    }
}
