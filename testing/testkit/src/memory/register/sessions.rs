//! The sessions that agents were set up with.

use std::collections::BTreeMap;

use async_trait::async_trait;
use nightdesk_register::enrolment::{Digest, Identity};
use nightdesk_register::issuer::{Refreshed, Session, Sessions};
use nightdesk_types::limits::REFRESH_OVERLAP;
use nightdesk_types::{AgentId, StoreError, TenantId, TenantScope, Timestamp};

use super::super::{Memory, State};

/// A session's row, with its refresh tokens: when each was first traded, by its digest.
pub(in super::super) struct SessionRow {
    agent: AgentId,
    ended: bool,
    tokens: BTreeMap<[u8; 32], Option<Timestamp>>,
}

impl SessionRow {
    pub(super) const fn end(&mut self) {
        self.ended = true;
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

fn key(scope: TenantScope, session: &Session) -> (TenantScope, String, String) {
    (scope, session.issuer.clone().unwrap_or_default(), session.id.clone())
}

#[async_trait]
impl Sessions for Memory {
    async fn begin_session(
        &self,
        scope: TenantScope,
        agent: AgentId,
        session: &Session,
        refresh: Option<Digest>,
    ) -> Result<bool, StoreError> {
        let mut state = self.lock();
        state.agent("begin a session", scope, agent)?;
        let row = state.sessions.entry(key(scope, session)).or_insert_with(|| SessionRow {
            agent,
            ended: false,
            tokens: BTreeMap::new(),
        });
        row.tokens.extend(refresh.map(|token| (*token.as_bytes(), None)));
        Ok(row.agent == agent && !row.ended)
    }

    async fn end_session(&self, scope: TenantScope, session: &Session) -> Result<bool, StoreError> {
        let mut state = self.lock();
        let row = state.sessions.get_mut(&key(scope, session));
        Ok(row.map(|row| row.ended = true).is_some())
    }

    async fn agent_of_session(
        &self,
        scope: TenantScope,
        session: &Session,
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
        next: Digest,
    ) -> Result<Refreshed, StoreError> {
        let (now, scope) = (self.now(), TenantScope::of(tenant));
        let mut state = self.lock();
        let row = state.sessions.get_mut(&key(scope, &Session::own(session)));
        let Some(row) = row.filter(|row| !row.ended) else { return Ok(Refreshed::Unknown) };
        let Some(traded) = row.tokens.get_mut(shown.as_bytes()) else {
            return Ok(Refreshed::Unknown);
        };
        let traded_at = *traded.get_or_insert(now);
        if traded_at.checked_add(REFRESH_OVERLAP).is_ok_and(|until| until <= now) {
            row.ended = true;
            return Ok(Refreshed::Reused);
        }
        row.tokens.insert(*next.as_bytes(), None);
        Ok(Refreshed::Next(Identity { scope, agent: row.agent }))
    }
}
