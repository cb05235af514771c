//! Implements bots and nodes.

use std::collections::BTreeSet;
use std::time::Duration;

use async_trait::async_trait;
use nightdesk_register::audit::Kind;
use nightdesk_register::{Bots, GreetedBot, NewBot, NewSecret, StoredBot, StoredBotKey};
use nightdesk_types::{AgentId, BotId, Clock, StoreError, TenantScope, Timestamp};
use serde_json::json;

use super::super::{Memory, State};

/// A bot's row.
pub(in super::super) struct BotRow {
    pub(in super::super) operator: TenantScope,
    pub(in super::super) new: NewBot,
    /// True if agents of other tenants may be linked on it.
    pub(in super::super) shared: bool,
    /// Its keys, oldest first.
    pub(super) keys: Vec<BotKeyRow>,
}

/// A bot's key.
pub(super) struct BotKeyRow {
    new: NewSecret,
    /// `None` until it is replaced.
    expires_at: Option<Timestamp>,
}

impl BotKeyRow {
    /// Returns the key with which a bot is created.
    pub(super) fn first(bot: &NewBot) -> Option<Self> {
        let (sealed, key) = bot.sealed.clone()?;
        Some(Self { new: NewSecret { id: bot.id, sealed, key }, expires_at: None })
    }
}

impl BotRow {
    /// Returns true if the two bots exclude each other.
    pub(super) fn clashes_with(&self, operator: TenantScope, bot: &NewBot) -> bool {
        let Self { operator: other, new, shared: _, keys: _ } = self;
        let same_handle =
            (*other, &new.platform, &new.handle) == (operator, &bot.platform, &bot.handle);
        new.id == bot.id || new.path == bot.path || same_handle
    }
}

impl State {
    fn stored(&self, row: &BotRow, now: Timestamp) -> StoredBot {
        let BotRow { operator, new, shared: _, keys } = row;
        let live = |key: &&BotKeyRow| key.expires_at.is_none_or(|at| at > now);
        let keys = keys.iter().rev().filter(live).filter_map(|key| {
            let NewSecret { id, sealed, key } = key.new.clone();
            let wrapped = self.wrapped(*operator, key)?.clone();
            Some(StoredBotKey { row: id, sealed, key, wrapped })
        });
        StoredBot {
            operator: operator.tenant(),
            id: BotId::from_uuid(new.id),
            platform: new.platform.clone(),
            adapter: new.adapter.clone(),
            handle: new.handle.clone(),
            settings: new.settings.clone(),
            keys: keys.collect(),
        }
    }

    /// Removes a bot, and all bindings and grants on it.
    fn forget_bot(&mut self, bot: BotId) {
        self.forget_reach(|on| on.bot == bot);
        self.agents.values_mut().for_each(|agent| drop(agent.listed.remove(&bot)));
        self.link_tries.retain(|(on, _), _| *on != bot);
        self.sources.retain(|(_, on, _), _| *on != bot);
        self.hearings.remove(&bot);
        self.bots.remove(&bot);
    }

    /// Returns the bots on which an agent has a binding or a grant.
    fn bots_known_to(&self, scope: TenantScope, agent: AgentId) -> BTreeSet<BotId> {
        let bound = self.bindings.iter().map(|binding| binding.on);
        let on = bound.chain(self.grants.iter().map(|row| row.on));
        on.filter(|on| (on.scope, on.agent) == (scope, agent)).map(|on| on.bot).collect()
    }
}

#[async_trait]
impl Bots for Memory {
    async fn bot_at(&self, path: &str) -> Result<Option<StoredBot>, StoreError> {
        let (now, state) = (self.now(), self.lock());
        let row = state.bots.values().find(|row| row.new.path == path);
        Ok(row.map(|row| state.stored(row, now)))
    }

    async fn listening_bots(&self, adapters: &[String]) -> Result<Vec<BotId>, StoreError> {
        let state = self.lock();
        let listens = |row: &&BotRow| adapters.contains(&row.new.adapter);
        let bots = state.bots.values().filter(listens).map(|row| BotId::from_uuid(row.new.id));
        let mut bots: Vec<BotId> = bots.collect();
        bots.sort_unstable();
        Ok(bots)
    }

    async fn bot(&self, id: BotId) -> Result<Option<StoredBot>, StoreError> {
        let (now, state) = (self.now(), self.lock());
        Ok(state.bots.get(&id).map(|row| state.stored(row, now)))
    }

    async fn rotate_bot_key(
        &self,
        scope: TenantScope,
        bot: BotId,
        key: &NewSecret,
        overlap: Duration,
    ) -> Result<bool, StoreError> {
        let ends_at = self.now().checked_add(overlap).unwrap_or(Timestamp::MAX);
        let mut state = self.lock();
        let row = state.bots.get_mut(&bot).filter(|row| row.operator == scope);
        let Some(row) = row else { return Ok(false) };
        for old in &mut row.keys {
            old.expires_at = Some(old.expires_at.map_or(ends_at, |at| at.min(ends_at)));
        }
        row.keys.push(BotKeyRow { new: key.clone(), expires_at: None });
        self.tell(&mut state, scope, Kind::BotKeyRotated, &json!({ "bot_id": bot }));
        Ok(true)
    }

    async fn hook_path(
        &self,
        scope: TenantScope,
        bot: BotId,
    ) -> Result<Option<String>, StoreError> {
        let state = self.lock();
        let row = state.bots.get(&bot).filter(|row| row.operator == scope);
        Ok(row.map(|row| row.new.path.clone()))
    }

    async fn remove_bot(&self, scope: TenantScope, bot: BotId) -> Result<bool, StoreError> {
        let mut state = self.lock();
        if state.bots.get(&bot).is_none_or(|row| row.operator != scope) {
            return Ok(false);
        }
        self.tell(&mut state, scope, Kind::BotRemoved, &json!({ "bot_id": bot }));
        state.forget_bot(bot);
        Ok(true)
    }

    async fn bots_of(
        &self,
        scope: TenantScope,
        agent: AgentId,
    ) -> Result<Vec<GreetedBot>, StoreError> {
        let state = self.lock();
        let greeted = |id: BotId| {
            let new = &state.bots.get(&id)?.new;
            let (platform, handle) = (new.platform.clone(), new.handle.clone());
            Some(GreetedBot { id, platform, handle })
        };
        Ok(state.bots_known_to(scope, agent).into_iter().filter_map(greeted).collect())
    }

    async fn time(&self) -> Result<Timestamp, StoreError> {
        Ok(self.clock().now())
    }
}
