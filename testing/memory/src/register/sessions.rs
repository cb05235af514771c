//! Implements the sessions with which agents were set up.

use std::collections::BTreeMap;

use async_trait::async_trait;
use nightdesk_register::audit::Kind;
use nightdesk_register::enrolment::{Digest, Identity};
use nightdesk_register::issuer::{
    IssuerSession, NextRefresh, RefreshResult, RefreshStep, Sessions, TokenExchange, decide_refresh,
};
use nightdesk_types::limits::REFRESH_OVERLAP;
use nightdesk_types::{AgentId, StoreError, TenantId, TenantScope, Timestamp};
use serde_json::{Value, json};

use super::super::{Memory, State};

/// A session's row, with the exchange of each refresh token, by its digest.
pub(in super::super) struct SessionRow {
    agent: AgentId,
    ended: bool,
    tokens: BTreeMap<[u8; 32], Option<ExchangeRow>>,
}

/// The exchange of a refresh token.
#[derive(Clone, Copy)]
struct ExchangeRow {
    at: Timestamp,
    next: NextRefresh,
}

impl SessionRow {
    pub(super) const fn end(&mut self) {
        self.ended = true;
    }

    fn exchange(&self, exchange: ExchangeRow, now: Timestamp) -> TokenExchange {
        let ExchangeRow { at, next } = exchange;
        let successor = self.tokens.get(next.token.as_bytes());
        TokenExchange {
            seed: next.seed,
            is_recent: at.checked_add(REFRESH_OVERLAP).is_ok_and(|until| until > now),
            is_successor_unused: successor.is_some_and(Option::is_none),
        }
    }
}

impl State {
    pub(super) fn sessions_of(
        &mut self,
        scope: TenantScope,
        agent: AgentId,
    ) -> impl Iterator<Item = &mut SessionRow> {
        let its = self.sessions.iter_mut().filter(move |(key, _)| key.0 == scope);
        its.map(|(_, row)| row).filter(move |row| row.agent == agent)
    }
}

fn key(scope: TenantScope, session: &IssuerSession) -> (TenantScope, String, String) {
    (scope, session.issuer.clone().unwrap_or_default(), session.id.clone())
}

fn about(agent: AgentId, session: &IssuerSession) -> Value {
    json!({ "agent_id": agent, "issuer": session.issuer, "session": session.id })
}

#[async_trait]
impl Sessions for Memory {
    async fn begin_session(
        &self,
        scope: TenantScope,
        agent: AgentId,
        session: &IssuerSession,
        refresh: Option<Digest>,
    ) -> Result<bool, StoreError> {
        let mut state = self.lock();
        state.agent("begin a session", scope, agent)?;
        let new = SessionRow { agent, ended: false, tokens: BTreeMap::new() };
        if !state.sessions.contains_key(&key(scope, session)) {
            self.tell(&mut state, scope, Kind::SessionBegun, &about(agent, session));
        }
        let row = state.sessions.entry(key(scope, session)).or_insert(new);
        row.tokens.extend(refresh.map(|token| (*token.as_bytes(), None)));
        Ok(row.agent == agent && !row.ended)
    }

    async fn end_session(
        &self,
        scope: TenantScope,
        session: &IssuerSession,
    ) -> Result<bool, StoreError> {
        let mut state = self.lock();
        let Some(row) = state.sessions.get_mut(&key(scope, session)) else { return Ok(false) };
        let agent = row.agent;
        if !std::mem::replace(&mut row.ended, true) {
            self.tell(&mut state, scope, Kind::SessionEnded, &about(agent, session));
        }
        Ok(true)
    }

    async fn agent_of_session(
        &self,
        scope: TenantScope,
        session: &IssuerSession,
    ) -> Result<Option<AgentId>, StoreError> {
        let state = self.lock();
        let row = state.sessions.get(&key(scope, session)).filter(|row| !row.ended);
        Ok(row.map(|row| row.agent))
    }

    async fn refresh(
        &self,
        tenant: TenantId,
        session: &str,
        shown: Digest,
        next: NextRefresh,
    ) -> Result<RefreshResult, StoreError> {
        let (now, scope) = (self.now(), TenantScope::for_tenant(tenant));
        let mut state = self.lock();
        let row = state.sessions.get_mut(&key(scope, &IssuerSession::from_own_issuer(session)));
        let Some(row) = row.filter(|row| !row.ended) else { return Ok(RefreshResult::Unknown) };
        let Some(token) = row.tokens.get(shown.as_bytes()).copied() else {
            return Ok(RefreshResult::Unknown);
        };
        let identity = Identity { scope, agent: row.agent, client: None };
        match decide_refresh(token.map(|exchange| row.exchange(exchange, now)).as_ref()) {
            RefreshStep::Exchange => {
                row.tokens.insert(*shown.as_bytes(), Some(ExchangeRow { at: now, next }));
                row.tokens.insert(*next.token.as_bytes(), None);
                Ok(RefreshResult::Next { identity, seed: next.seed })
            }
            RefreshStep::Repeat(seed) => Ok(RefreshResult::Next { identity, seed }),
            RefreshStep::EndSession => {
                row.ended = true;
                let about = about(row.agent, &IssuerSession::from_own_issuer(session));
                self.tell(&mut state, scope, Kind::SessionEnded, &about);
                Ok(RefreshResult::Reused)
            }
        }
    }
}
