//! Implements commands: the agent of each name in each place.

use async_trait::async_trait;
use nightdesk_register::{AgentOnBot, CommandDigest, CommandStore, HeldCommand};
use nightdesk_types::{AgentId, BotId, GrantTarget, StoreError, TenantScope};

use super::super::{AgentKey, Memory, State};

/// A command's row, keyed by its bot, scope and name.
pub(in super::super) struct CommandRow {
    agent: AgentKey,
    told: Option<(CommandDigest, String)>,
}

impl State {
    fn is_granted_in(&self, (scope, agent): AgentKey, bot: BotId, scope_id: &str) -> bool {
        self.grants.iter().any(|row| {
            let is_whole = matches!(&row.granted, GrantTarget::Scope(scope) if scope == scope_id);
            row.on == AgentOnBot { scope, agent, bot } && is_whole
        })
    }
}

fn key(on: AgentOnBot, scope_id: &str, name: &str) -> (BotId, String, String) {
    (on.bot, scope_id.to_owned(), name.to_owned())
}

#[async_trait]
impl CommandStore for Memory {
    async fn commands_of(
        &self,
        scope: TenantScope,
        agent: AgentId,
        bot: BotId,
    ) -> Result<Vec<HeldCommand>, StoreError> {
        let state = self.lock();
        let own = state
            .commands
            .iter()
            .filter(|((at, _, _), row)| *at == bot && row.agent == (scope, agent));
        let held = own.map(|((_, scope_id, name), row)| HeldCommand {
            scope_id: scope_id.clone(),
            name: name.clone(),
            registered: row.told.clone(),
        });
        Ok(held.collect())
    }

    async fn claim_command(
        &self,
        on: AgentOnBot,
        scope_id: &str,
        name: &str,
    ) -> Result<bool, StoreError> {
        let (mut state, key) = (self.lock(), key(on, scope_id, name));
        let agent = (on.scope, on.agent);
        let holder = state.commands.get(&key).map(|row| row.agent);
        if holder.is_some_and(|holder| !state.is_granted_in(holder, on.bot, scope_id)) {
            state.commands.remove(&key);
        }
        if !state.is_granted_in(agent, on.bot, scope_id) {
            return Ok(false);
        }
        let row = state.commands.entry(key).or_insert(CommandRow { agent, told: None });
        Ok(row.agent == agent)
    }

    async fn note_command(&self, on: AgentOnBot, command: &HeldCommand) -> Result<(), StoreError> {
        let mut state = self.lock();
        let row = state.commands.get_mut(&key(on, &command.scope_id, &command.name));
        if let Some(row) = row.filter(|row| row.agent == (on.scope, on.agent)) {
            row.told.clone_from(&command.registered);
        }
        Ok(())
    }

    async fn drop_command(
        &self,
        on: AgentOnBot,
        scope_id: &str,
        name: &str,
    ) -> Result<(), StoreError> {
        let (mut state, key) = (self.lock(), key(on, scope_id, name));
        if state.commands.get(&key).is_some_and(|row| row.agent == (on.scope, on.agent)) {
            state.commands.remove(&key);
        }
        Ok(())
    }
}
