//! Implements the gate's store.

use std::collections::BTreeSet;

use async_trait::async_trait;
use jiff::SignedDuration;
use nightdesk_gate::bot_reach::{AgentTerms, ScopedAgent};
use nightdesk_gate::{
    BotMessage, BotPrompt, Reach, ReachChange, RefusalNote, Store, StoredRefusal,
};
use nightdesk_register::AgentOnBot;
use nightdesk_types::limits::{REACHED_DAYS, RECIPIENTS_MAX, REFUSALS_KEPT_MAX};
use nightdesk_types::{
    AgentId, BotId, GrantTarget, Principal, Quota, Relevance, StoreError, TenantScope, Timestamp,
};

use super::{Memory, State, push_bounded};

/// A person on a platform, and their agent.
pub(super) struct Binding {
    pub(super) on: AgentOnBot,
    pub(super) author: String,
    /// The binding with the highest number is the person's default.
    pub(super) preferred: u64,
}

impl Binding {
    pub(super) fn is(&self, on: AgentOnBot, author: &str) -> bool {
        self.on == on && self.author == author
    }
}

/// A grant and its agent.
pub(super) struct GrantRow {
    pub(super) on: AgentOnBot,
    pub(super) granted: GrantTarget,
    pub(super) principal: Principal,
    pub(super) is_moderator: bool,
}

impl GrantRow {
    /// Returns true if the two grants exclude each other. A chat is the same in any scope.
    pub(super) fn clashes_with(&self, other: &GrantTarget) -> bool {
        match (&self.granted, other) {
            (GrantTarget::Chat { chat: one, .. }, GrantTarget::Chat { chat: other, .. }) => {
                one == other
            }
            (one, other) => one == other,
        }
    }
}

/// A changed part of an agent's access. Its terms count as changed in every case.
pub(super) enum Changed {
    Author(String),
    Grant(GrantTarget),
    Terms,
}

#[async_trait]
impl Store for Memory {
    async fn read_changes(
        &self,
        bot: BotId,
        since: Option<i64>,
    ) -> Result<ReachChange, StoreError> {
        let state = self.lock();
        let log = state.changes.get(&bot).map_or(&[][..], Vec::as_slice);
        let version = i64::try_from(log.len()).unwrap_or(i64::MAX);
        let seen = since.and_then(|since| usize::try_from(since).ok());
        let new = seen.and_then(|seen| log.get(seen..));
        let is_whole = new.is_none();
        let change = new.map_or_else(|| state.everything(bot), |new| state.news(bot, new));
        Ok(ReachChange { version, is_whole, ..change })
    }

    async fn changed_bots(&self, bots: &[(BotId, i64)]) -> Result<Vec<BotId>, StoreError> {
        let state = self.lock();
        let version = |bot: &BotId| state.changes.get(bot).map_or(0, Vec::len);
        let is_changed = |(bot, seen): &&(BotId, i64)| usize::try_from(*seen) != Ok(version(bot));
        Ok(bots.iter().filter(is_changed).map(|(bot, _)| *bot).collect())
    }

    async fn find_reaches(
        &self,
        scope: TenantScope,
        agent: AgentId,
        chat: &str,
    ) -> Result<Vec<Reach>, StoreError> {
        self.mishap.meets_send()?;
        let now = self.now();
        let state = self.lock();
        let may = |bot: BotId| {
            let on = AgentOnBot { scope, agent, bot };
            let is_chat = |row: &GrantRow| matches!(&row.granted, GrantTarget::Chat { chat: granted, .. } if granted == chat);
            // A grant of every chat does not let an agent write first.
            let granted = state.grants.iter().any(|row| row.on == on && is_chat(row));
            // Where a person's chat has the person's id, a binding is a direct chat.
            let is_direct = state.bindings.iter().any(|binding| binding.is(on, chat));
            granted || is_direct || state.was_reached(on, chat, now) && state.has_anything(on)
        };
        let bots = state.bots.iter().filter(|(bot, _)| may(**bot));
        let reach = |(bot, row): (&BotId, &super::register::BotRow)| Reach {
            bot: *bot,
            platform: row.new.platform.clone(),
            handle: row.new.handle.clone(),
            speaks_as: state.speaks_as(AgentOnBot { scope, agent, bot: *bot }, chat, now),
            is_moderator: state.is_moderator(AgentOnBot { scope, agent, bot: *bot }, chat),
        };
        Ok(bots.map(reach).collect())
    }

    async fn takes_part(
        &self,
        scope: TenantScope,
        agent: AgentId,
        bot: BotId,
        chat: &str,
    ) -> Result<bool, StoreError> {
        let now = self.now();
        Ok(self.lock().was_reached(AgentOnBot { scope, agent, bot }, chat, now))
    }

    async fn record_prompt(
        &self,
        scope: TenantScope,
        agent: AgentId,
        BotPrompt { bot, id }: BotPrompt<'_>,
    ) -> Result<bool, StoreError> {
        let (now, mut state) = (self.now(), self.lock());
        let has = state.prompts.values().filter(|(asker, _)| *asker == (scope, agent)).count();
        if !state.prompts.contains_key(&(bot, id.to_owned())) {
            state.keep_quota("record a prompt", scope, Quota::AgentPrompts, has)?;
        }
        let asked = state.prompts.entry((bot, id.to_owned())).or_insert(((scope, agent), now));
        Ok(asked.0 == (scope, agent))
    }

    async fn find_prompt_agent(
        &self,
        BotPrompt { bot, id }: BotPrompt<'_>,
    ) -> Result<Option<ScopedAgent>, StoreError> {
        Ok(self.lock().prompts.get(&(bot, id.to_owned())).map(|(asker, _)| *asker))
    }

    async fn find_message_sender(
        &self,
        message: &BotMessage,
    ) -> Result<Option<ScopedAgent>, StoreError> {
        let state = self.lock();
        let made = state.sends.iter().filter(|(_, row)| row.made(message));
        let first = made.min_by_key(|(_, row)| row.asked_at);
        Ok(first.map(|((scope, agent, _), _)| (*scope, *agent)))
    }

    async fn read_refusals(
        &self,
        scope: TenantScope,
        event_key: &str,
    ) -> Result<Vec<StoredRefusal>, StoreError> {
        let state = self.lock();
        let kept = state.refusals.get(&scope).into_iter().flatten().rev();
        Ok(kept.filter(|kept| kept.note.event_key == event_key).cloned().collect())
    }

    async fn note_refusals(&self, notes: &[RefusalNote]) -> Result<(), StoreError> {
        let at = self.now();
        let mut state = self.lock();
        for note in notes {
            let ring = state.refusals.entry(note.scope).or_default();
            push_bounded(ring, StoredRefusal { at, note: note.clone() }, REFUSALS_KEPT_MAX);
        }
        Ok(())
    }
}

impl State {
    /// Records a change, and makes earlier admissions stale.
    pub(super) fn note(&mut self, on: AgentOnBot, changed: Changed) {
        if let Some(agent) = self.agents.get_mut(&(on.scope, on.agent)) {
            agent.reach_version += 1;
        }
        self.changes.entry(on.bot).or_default().push(((on.scope, on.agent), changed));
    }

    fn everything(&self, bot: BotId) -> ReachChange {
        let bindings = || self.bindings.iter().filter(|binding| binding.on.bot == bot);
        let grants = || self.grants.iter().filter(|row| row.on.bot == bot);
        let authors: BTreeSet<&str> = bindings().map(|binding| binding.author.as_str()).collect();
        let agents = bindings().map(|binding| binding.on).chain(grants().map(|row| row.on));
        let agents: BTreeSet<ScopedAgent> = agents.map(|on| (on.scope, on.agent)).collect();
        ReachChange {
            authors: authors.into_iter().map(|author| self.author(bot, author)).collect(),
            grants: grants().map(|row| self.granted(bot, &row.granted)).collect(),
            agents: agents.into_iter().filter_map(|agent| self.terms(bot, agent)).collect(),
            ..ReachChange::default()
        }
    }

    fn news(&self, bot: BotId, new: &[(ScopedAgent, Changed)]) -> ReachChange {
        let mut change = ReachChange::default();
        for (agent, changed) in new {
            match changed {
                Changed::Author(author) => change.authors.push(self.author(bot, author)),
                Changed::Grant(granted) => change.grants.push(self.granted(bot, granted)),
                Changed::Terms => {}
            }
            change.agents.extend(self.terms(bot, *agent));
        }
        change
    }

    fn author(&self, bot: BotId, author: &str) -> (String, Vec<ScopedAgent>) {
        let own = |binding: &&Binding| binding.on.bot == bot && binding.author == author;
        let mut own: Vec<&Binding> = self.bindings.iter().filter(own).collect();
        // The sort is stable, so the oldest comes first otherwise.
        own.sort_by_key(|binding| std::cmp::Reverse(binding.preferred));
        let agents = own.into_iter().map(|binding| (binding.on.scope, binding.on.agent));
        (author.to_owned(), agents.take(RECIPIENTS_MAX).collect())
    }

    fn granted(
        &self,
        bot: BotId,
        granted: &GrantTarget,
    ) -> (GrantTarget, Option<(ScopedAgent, Principal)>) {
        let row = self.grants.iter().find(|row| row.on.bot == bot && row.granted == *granted);
        (granted.clone(), row.map(|row| ((row.on.scope, row.on.agent), row.principal)))
    }

    fn terms(&self, bot: BotId, agent: ScopedAgent) -> Option<(ScopedAgent, AgentTerms)> {
        let row = self.agents.get(&agent)?;
        let on = AgentOnBot { scope: agent.0, agent: agent.1, bot };
        let owners = self.bindings.iter().filter(|binding| binding.on == on);
        let platform = self.bots.get(&bot).map(|bot| &bot.new.platform);
        let terms = AgentTerms {
            version: row.reach_version,
            listed: row.listed.get(&bot).cloned().unwrap_or_default(),
            owners: owners.map(|owner| owner.author.clone()).take(RECIPIENTS_MAX).collect(),
            relevance: Relevance::for_client(
                platform.and_then(|it| row.relevance.get(it)).cloned(),
                row.client_rules,
            ),
        };
        Some((agent, terms))
    }

    /// Returns true if an agent has a binding or a grant on a bot.
    fn has_anything(&self, on: AgentOnBot) -> bool {
        self.bindings.iter().any(|binding| binding.on == on)
            || self.grants.iter().any(|row| row.on == on)
    }

    /// Returns true if a grant of the chat or of the bot lets an agent change messages of others.
    fn is_moderator(&self, on: AgentOnBot, chat: &str) -> bool {
        self.grants.iter().filter(|row| row.on == on && row.is_moderator).any(|row| {
            match &row.granted {
                GrantTarget::Chat { chat: granted, .. } => granted == chat,
                // A send names its scope itself, so a grant of a scope proves nothing about its chats.
                GrantTarget::Scope(_) => false,
                GrantTarget::Bot => true,
            }
        })
    }

    /// Returns the agent's display name, if another agent was reached in the same chat.
    fn speaks_as(&self, on: AgentOnBot, chat: &str, now: Timestamp) -> Option<String> {
        let is_shared = self.agents.keys().any(|(scope, agent)| {
            *agent != on.agent
                && self.was_reached(
                    AgentOnBot { scope: *scope, agent: *agent, bot: on.bot },
                    chat,
                    now,
                )
        });
        let agent = self.agents.get(&(on.scope, on.agent)).filter(|_| is_shared);
        agent.and_then(|agent| agent.display_name.clone())
    }

    fn was_reached(&self, on: AgentOnBot, chat: &str, now: Timestamp) -> bool {
        let kept = SignedDuration::from_hours(i64::from(REACHED_DAYS) * 24);
        let reached = self.agents.get(&(on.scope, on.agent)).map(|agent| &agent.reached);
        let at = reached.and_then(|reached| reached.get(&(chat.to_owned(), on.bot)));
        at.is_some_and(|at| now.duration_since(*at) < kept)
    }
}
