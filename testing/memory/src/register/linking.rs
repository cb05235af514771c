//! Implements link codes.

use async_trait::async_trait;
use nightdesk_register::audit::Kind;
use nightdesk_register::enrolment::Digest;
use nightdesk_register::{AgentOnBot, Linking, RedeemResult};
use nightdesk_types::limits::{LINK_CODE_LIFE, LINK_CODES_PER_HOUR, LINK_TRIES_PER_HOUR};
use nightdesk_types::{Actor, AgentId, BotId, StoreError, TenantScope, Timestamp};
use serde_json::json;

use super::reaching::person;
use crate::{Memory, State};

const HOUR: std::time::Duration = std::time::Duration::from_hours(1);

/// A code's row.
pub(in super::super) struct CodeRow {
    scope: TenantScope,
    agent: AgentId,
    created_at: Timestamp,
    used_by: Option<(BotId, String)>,
}

impl CodeRow {
    pub(super) fn is_of(&self, scope: TenantScope, agent: AgentId) -> bool {
        (self.scope, self.agent) == (scope, agent)
    }
}

impl State {
    /// Counts an attempt of a person. Returns true if it may be checked.
    fn link_try(&mut self, bot: BotId, author: &str, now: Timestamp) -> bool {
        let (began, tries) = self.link_tries.entry((bot, author.to_owned())).or_insert((now, 0));
        if now >= *began + HOUR {
            (*began, *tries) = (now, 0);
        }
        *tries += 1;
        *tries <= LINK_TRIES_PER_HOUR
    }

    fn redeemed(
        &mut self,
        bot: BotId,
        author: &str,
        code: &Digest,
        now: Timestamp,
    ) -> RedeemResult {
        let by = (bot, author.to_owned());
        let found = self.link_codes.get(code.as_bytes());
        let is_said_again = found.is_some_and(|row| row.used_by.as_ref() == Some(&by));
        if !is_said_again && !self.link_try(bot, author, now) {
            return RedeemResult::TooMany;
        }
        let Some(row) = self.link_codes.get(code.as_bytes()) else { return RedeemResult::Unknown };
        let is_open =
            self.bots.get(&bot).is_some_and(|bot| bot.operator == row.scope || bot.shared);
        match &row.used_by {
            Some(other) if *other != by => return RedeemResult::Used,
            None if now >= row.created_at + LINK_CODE_LIFE => return RedeemResult::Expired,
            None if !is_open => return RedeemResult::NotHere,
            Some(_) | None => {}
        }
        let (scope, agent) = (row.scope, row.agent);
        let name = self.agents.get(&(scope, agent)).map(|agent| agent.name.clone());
        RedeemResult::Linked { scope, agent, name: name.unwrap_or_default() }
    }
}

#[async_trait]
impl Linking for Memory {
    async fn enter_code(
        &self,
        scope: TenantScope,
        agent: AgentId,
        code: &Digest,
    ) -> Result<bool, StoreError> {
        let now = self.now();
        let mut state = self.lock();
        state.agent("store a link code", scope, agent)?;
        let within = |row: &&CodeRow| row.is_of(scope, agent) && now < row.created_at + HOUR;
        let entered = state.link_codes.values().filter(within).count();
        if i64::try_from(entered).is_ok_and(|entered| entered >= LINK_CODES_PER_HOUR) {
            return Ok(false);
        }
        let row = CodeRow { scope, agent, created_at: now, used_by: None };
        state.link_codes.insert(*code.as_bytes(), row);
        self.tell(&mut state, scope, Kind::LinkMade, &json!({ "agent_id": agent }));
        Ok(true)
    }

    async fn redeem(
        &self,
        bot: BotId,
        author: &str,
        code: &Digest,
    ) -> Result<RedeemResult, StoreError> {
        let mut state = self.lock();
        let redeemed = state.redeemed(bot, author, code, self.now());
        if let RedeemResult::Linked { scope, agent, .. } = redeemed
            && let Some(row) = state.link_codes.get_mut(code.as_bytes())
            && row.used_by.replace((bot, author.to_owned())).is_none()
        {
            let on = AgentOnBot { scope, agent, bot };
            state.bind(on, author);
            self.tell(
                &mut state,
                scope.with_actor(Actor::Person),
                Kind::Linked,
                &person(on, author),
            );
        }
        Ok(redeemed)
    }

    async fn share(
        &self,
        scope: TenantScope,
        bot: BotId,
        shared: bool,
    ) -> Result<bool, StoreError> {
        let mut state = self.lock();
        let Some(row) = state.bots.get_mut(&bot) else { return Ok(false) };
        let is_ours = row.operator == scope;
        if is_ours {
            row.shared = shared;
            let about = json!({ "bot_id": bot, "shared": shared });
            self.tell(&mut state, scope, Kind::BotShared, &about);
        }
        Ok(is_ours)
    }
}
