//! Implements bindings and grants.

use async_trait::async_trait;
use nightdesk_register::audit::Kind;
use nightdesk_register::{AgentOnBot, Reaching};
use nightdesk_types::{
    AgentId, ClientRules, GrantTarget, Principal, Quota, Relevance, StoreError, TenantScope,
};
use serde_json::{Value, json};

use crate::gate::{Binding, Changed, GrantRow};
use crate::{Memory, State};

impl State {
    /// Binds a person. Returns true if the binding is new.
    pub(super) fn bind(&mut self, on: AgentOnBot, author: &str) -> bool {
        if self.bindings.iter().any(|binding| binding.is(on, author)) {
            return false;
        }
        self.bindings.push(Binding { on, author: author.to_owned(), preferred: 0 });
        self.note(on, Changed::Author(author.to_owned()));
        true
    }
}

#[async_trait]
impl Reaching for Memory {
    async fn bind(&self, on: AgentOnBot, author: &str) -> Result<(), StoreError> {
        let mut state = self.lock();
        state.agent("bind an author", on.scope, on.agent)?;
        if state.bind(on, author) {
            self.tell(&mut state, on.scope, Kind::Bound, &person(on, author));
        }
        Ok(())
    }

    async fn unbind(&self, on: AgentOnBot, author: &str) -> Result<(), StoreError> {
        let mut state = self.lock();
        let before = state.bindings.len();
        state.bindings.retain(|binding| !binding.is(on, author));
        if state.bindings.len() < before {
            self.tell(&mut state, on.scope, Kind::Unbound, &person(on, author));
            state.note(on, Changed::Author(author.to_owned()));
        }
        Ok(())
    }

    async fn prefer(&self, on: AgentOnBot, author: &str) -> Result<bool, StoreError> {
        let mut state = self.lock();
        let newest = state.bindings.iter().map(|binding| binding.preferred).max().unwrap_or(0);
        let binding = state.bindings.iter_mut().find(|binding| binding.is(on, author));
        let Some(binding) = binding else { return Ok(false) };
        binding.preferred = newest + 1;
        self.tell(&mut state, on.scope, Kind::Preferred, &person(on, author));
        state.note(on, Changed::Author(author.to_owned()));
        Ok(true)
    }

    async fn grant(
        &self,
        on: AgentOnBot,
        granted: &GrantTarget,
        principal: Option<Principal>,
    ) -> Result<bool, StoreError> {
        let mut state = self.lock();
        let own = state.agent("grant a chat", on.scope, on.agent)?.principal;
        if state.grants.iter().any(|row| row.on.bot == on.bot && row.clashes_with(granted)) {
            return Ok(false);
        }
        let has = state.grants.iter().filter(|row| row.on.scope == on.scope).count();
        state.keep_quota("grant a chat", on.scope, Quota::Grants, has)?;
        let principal = principal.unwrap_or(own);
        let granted = granted.clone();
        state.grants.push(GrantRow {
            on,
            granted: granted.clone(),
            principal,
            is_moderator: false,
        });
        self.tell(&mut state, on.scope, Kind::Granted, &place(on));
        state.note(on, Changed::Grant(granted));
        Ok(true)
    }

    async fn allow_moderation(
        &self,
        on: AgentOnBot,
        granted: &GrantTarget,
    ) -> Result<bool, StoreError> {
        let mut state = self.lock();
        let row = state.grants.iter_mut().find(|row| row.on == on && row.granted == *granted);
        let Some(row) = row else { return Ok(false) };
        row.is_moderator = true;
        self.tell(&mut state, on.scope, Kind::ModerationGranted, &place(on));
        Ok(true)
    }

    async fn release(&self, on: AgentOnBot, granted: &GrantTarget) -> Result<bool, StoreError> {
        let mut state = self.lock();
        let before = state.grants.len();
        state.grants.retain(|row| row.on != on || row.granted != *granted);
        let released = state.grants.len() < before;
        if released {
            self.tell(&mut state, on.scope, Kind::Released, &place(on));
            state.note(on, Changed::Grant(granted.clone()));
        }
        Ok(released)
    }

    async fn open_to(
        &self,
        scope: TenantScope,
        agent: AgentId,
        principal: Principal,
    ) -> Result<(), StoreError> {
        let mut state = self.lock();
        state.agent("set the principal of an agent", scope, agent)?.principal = principal;
        let mut changed = Vec::new();
        for row in &mut state.grants {
            if (row.on.scope, row.on.agent) == (scope, agent) && row.principal != principal {
                row.principal = principal;
                changed.push((row.on, row.granted.clone()));
            }
        }
        for (on, granted) in changed {
            state.note(on, Changed::Grant(granted));
        }
        self.tell(&mut state, scope, Kind::PrincipalOpened, &json!({ "agent_id": agent }));
        Ok(())
    }

    async fn list(&self, on: AgentOnBot, authors: &[String]) -> Result<(), StoreError> {
        let mut state = self.lock();
        let agent = state.agent("replace an agent's list", on.scope, on.agent)?;
        agent.listed.insert(on.bot, authors.iter().cloned().collect());
        state.note(on, Changed::Terms);
        self.tell(&mut state, on.scope, Kind::ListReplaced, &place(on));
        Ok(())
    }

    async fn follow_rules(
        &self,
        scope: TenantScope,
        agent: AgentId,
        rules: ClientRules,
    ) -> Result<(), StoreError> {
        self.lock().store_rules("store the rules of a client", scope, agent, rules)
    }

    async fn declare(
        &self,
        scope: TenantScope,
        agent: AgentId,
        platform: &str,
        relevance: &Relevance,
    ) -> Result<(), StoreError> {
        let mut state = self.lock();
        let row = state.agent("set the relevance policy of an agent", scope, agent)?;
        let before = row.relevance.insert(platform.to_owned(), relevance.clone());
        if before.as_ref() != Some(relevance) {
            state.note_everywhere(scope, agent);
            let about = json!({ "agent_id": agent, "platform": platform });
            self.tell(&mut state, scope, Kind::RelevanceDeclared, &about);
        }
        Ok(())
    }
}

fn place(on: AgentOnBot) -> Value {
    json!({ "agent_id": on.agent, "bot_id": on.bot })
}

pub(super) fn person(on: AgentOnBot, author: &str) -> Value {
    json!({ "agent_id": on.agent, "bot_id": on.bot, "author_id": author })
}

impl State {
    /// Stores the rules for serving the agent's client.
    pub(crate) fn store_rules(
        &mut self,
        operation: &'static str,
        scope: TenantScope,
        agent: AgentId,
        rules: ClientRules,
    ) -> Result<(), StoreError> {
        let row = self.agent(operation, scope, agent)?;
        if row.client_rules != rules {
            row.client_rules = rules;
            self.note_everywhere(scope, agent);
        }
        Ok(())
    }

    /// Records a change on every bot on which the agent has a binding or grant.
    fn note_everywhere(&mut self, scope: TenantScope, agent: AgentId) {
        let bound = self.bindings.iter().map(|binding| binding.on);
        let granted = self.grants.iter().map(|row| row.on);
        let mut on: Vec<AgentOnBot> =
            bound.chain(granted).filter(|on| (on.scope, on.agent) == (scope, agent)).collect();
        on.sort_by_key(|on| on.bot);
        on.dedup();
        for on in on {
            self.note(on, Changed::Terms);
        }
    }
}
