//! Implements the store of lines.

use std::time::Duration;

use async_trait::async_trait;
use nightdesk_inbox::{LineClaim, ParkReason};
use nightdesk_line::{CloseRecord, HeldLine, LineRequest, LineStart, Store};
use nightdesk_protocol::session_names::SessionNames;
use nightdesk_types::limits::TRIES_MAX;
use nightdesk_types::{
    AgentId, GatewayId, Incarnation, Node, Seq, StoreError, TenantScope, Timestamp, Transport,
};

use super::Memory;
use super::agent::{Agent, Line};

#[async_trait]
impl Store for Memory {
    async fn take(&self, line: LineRequest<'_>) -> Result<LineStart, StoreError> {
        let grace = line.node_end_grace();
        let LineRequest { caller, node, transport, rules } = line;
        let now = self.now();
        let mut state = self.lock();
        if let Some(rules) = rules {
            state.store_rules("take a line", caller.scope, caller.agent, rules)?;
        }
        let incarnation = state.incarnation;
        let agent = state.agent("take a line", caller.scope, caller.agent)?;
        let taken = agent.take_line(NewestLine {
            gateway: caller.gateway,
            incarnation,
            node,
            transport,
            grace,
            now,
        });
        state.is_up((caller.scope, caller.agent), now);
        Ok(taken)
    }

    async fn find_held_line(
        &self,
        scope: TenantScope,
        agent: AgentId,
    ) -> Result<Option<HeldLine>, StoreError> {
        let state = self.lock();
        let line = state.agents.get(&(scope, agent)).and_then(|agent| agent.line.as_ref());
        Ok(line.filter(|line| state.is_open(line)).map(|line| {
            let Line { incarnation, generation, gateway, ref node, .. } = *line;
            let claim = LineClaim { scope, agent, incarnation, generation };
            HeldLine { claim, gateway, node: node.clone() }
        }))
    }

    async fn tell_sessions(
        &self,
        line: &LineClaim,
        sessions: &SessionNames,
    ) -> Result<(), StoreError> {
        let mut state = self.lock();
        let agent = state.agents.get_mut(&(line.scope, line.agent));
        let newest = agent.and_then(|agent| agent.line.as_mut());
        if let Some(newest) = newest.filter(|newest| newest.is_of(line)) {
            newest.sessions = sessions.clone();
        }
        Ok(())
    }

    async fn close(&self, line: &LineClaim, end: CloseRecord) -> Result<(), StoreError> {
        let now = self.now();
        let mut state = self.lock();
        let key = (line.scope, line.agent);
        let is_current = line.incarnation == state.incarnation;
        let agent = state.agents.get_mut(&key);
        let end = CloseRecord { tried: end.tried.filter(|_| is_current), ..end };
        if agent.is_some_and(|agent| agent.close_line(line, end, now)) {
            state.line_ended(key, line.generation, now);
        }
        Ok(())
    }
}

/// The facts of a line that becomes its agent's newest.
#[derive(Clone, Copy)]
struct NewestLine<'a> {
    gateway: GatewayId,
    incarnation: Incarnation,
    node: &'a Node,
    transport: Transport,
    grace: Duration,
    now: Timestamp,
}

impl Line {
    /// Returns true if it is the open line of this claim.
    fn is_of(&self, line: &LineClaim) -> bool {
        (self.incarnation, self.generation) == (line.incarnation, line.generation)
            && self.closed_at.is_none()
    }
}

impl Agent {
    fn take_line(&mut self, line: NewestLine<'_>) -> LineStart {
        let NewestLine { gateway, incarnation, node, transport, grace, now } = line;
        let parked = self.park_tried(now);
        self.cursor.generation = self.cursor.generation.next();
        let line = Line {
            gateway,
            incarnation,
            generation: self.cursor.generation,
            opened_at: now,
            closed_at: None,
            restarted_at: None,
            node: node.clone(),
            transport,
            sessions: SessionNames::default(),
            grace,
            parting: None,
            awake_ms: 0,
        };
        if let Some(open) = self.line.as_mut() {
            open.count_awake(now);
        }
        let line =
            Line { awake_ms: self.line.as_ref().map_or(0, |before| before.awake_ms), ..line };
        let before = self.line.replace(line).filter(|before| before.gateway == gateway);
        let restarted_at = before.and_then(|before| before.restarted_at);
        LineStart {
            incarnation,
            generation: self.cursor.generation,
            acked: self.cursor.acked,
            since: self.cursor.acked_at,
            head: self.head(),
            restarted_ago: restarted_at.and_then(|at| now.duration_since(at).try_into().ok()),
            parked,
            rules: self.client_rules,
        }
    }

    /// Parks the entry that was tried too often.
    fn park_tried(&mut self, now: Timestamp) -> Option<Seq> {
        let tried = self.cursor.tried.filter(|_| self.cursor.tries >= TRIES_MAX)?;
        let parked = self.set_aside(tried, ParkReason::Tries, now);
        parked.then(|| {
            self.cursor.tries = 0;
            tried
        })
    }

    /// Returns whether the line was open.
    fn close_line(&mut self, line: &LineClaim, end: CloseRecord, now: Timestamp) -> bool {
        // A replaced line counts too: the client's redial is the very sign of a failure.
        self.count_try(end.tried);
        let Some(open) = self.line.as_mut().filter(|open| open.is_of(line)) else { return false };
        open.count_awake(now);
        open.closed_at = Some(now);
        open.restarted_at = end.is_restart().then_some(now);
        open.grace = end.closed_by.grace();
        open.parting = Some(end.closed_by);
        true
    }

    fn count_try(&mut self, tried: Option<Seq>) {
        let Some(tried) = tried.filter(|tried| self.cursor.is_before(*tried)) else { return };
        let again = self.cursor.tried == Some(tried);
        self.cursor.tries = if again { self.cursor.tries + 1 } else { 1 };
        self.cursor.tried = Some(tried);
    }
}
