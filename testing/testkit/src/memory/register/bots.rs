//! Bots and nodes.

use std::collections::BTreeSet;

use async_trait::async_trait;
use nightdesk_register::{Bots, GreetedBot, NewBot, StoredBot};
use nightdesk_types::{AgentId, BotId, Clock, StoreError, TenantScope, Timestamp};

use super::super::{Memory, State};

/// A bot's row.
pub(in super::super) struct BotRow {
    pub(in super::super) operator: TenantScope,
    pub(in super::super) new: NewBot,
    /// Whether agents of other tenants may be linked on it.
    pub(in super::super) shared: bool,
}

impl BotRow {
    /// Whether both cannot be entered.
    pub(super) fn clashes_with(&self, operator: TenantScope, bot: &NewBot) -> bool {
        let Self { operator: other, new, shared: _ } = self;
        let same_handle =
            (*other, &new.platform, &new.handle) == (operator, &bot.platform, &bot.handle);
        new.id == bot.id || new.path == bot.path || same_handle
    }
}

impl State {
    fn stored(&self, row: &BotRow) -> StoredBot {
        let BotRow { operator, new, shared: _ } = row;
        let sealed = new.sealed.as_ref().and_then(|(sealed, key)| {
            let wrapped = self.wrapped(*operator, *key)?;
            Some((sealed.clone(), wrapped.clone()))
        });
        StoredBot {
            operator: operator.tenant(),
            id: BotId::from_uuid(new.id),
            platform: new.platform.clone(),
            adapter: new.adapter.clone(),
            handle: new.handle.clone(),
            settings: new.settings.clone(),
            sealed,
        }
    }

    /// The bots an agent is bound or granted something on.
    fn bots_known_to(&self, scope: TenantScope, agent: AgentId) -> BTreeSet<BotId> {
        let bound = self.bindings.iter().map(|binding| binding.on);
        let on = bound.chain(self.grants.iter().map(|row| row.on));
        on.filter(|on| (on.scope, on.agent) == (scope, agent)).map(|on| on.bot).collect()
    }
}

#[async_trait]
impl Bots for Memory {
    async fn bot_at(&self, path: &str) -> Result<Option<StoredBot>, StoreError> {
        let state = self.lock();
        let row = state.bots.values().find(|row| row.new.path == path);
        Ok(row.map(|row| state.stored(row)))
    }

    async fn bot(&self, id: BotId) -> Result<Option<StoredBot>, StoreError> {
        let state = self.lock();
        Ok(state.bots.get(&id).map(|row| state.stored(row)))
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
