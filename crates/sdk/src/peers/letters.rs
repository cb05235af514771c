//! Letters from an agent to another.

use std::time::Duration;

use nightdesk_protocol::delivery::{PayloadKind, Response, When};
use nightdesk_protocol::http::letters::{
    AgentListResponse, LetterListResponse, LetterOp, LetterSendRequest, LetterSendResponse,
    ReachableAgent, SentLetter,
};
use nightdesk_types::Timestamp;
use nightdesk_types::limits::EXCHANGE_WAIT_MAX;

use super::{Millis, PeerError, Peers, escape_text};
use crate::limits::ASK_WAIT;

/// A letter to an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "a letter says nothing until it is sent"]
pub struct Letter(LetterSendRequest);

impl Letter {
    /// Creates a letter with this text. The agent is given by its name or id, or by its id with another tenant; a
    /// session of it follows after an `@`.
    pub fn new(agent: impl Into<String>, words: impl Into<String>) -> Self {
        Self(LetterSendRequest {
            agent: agent.into(),
            message: words.into(),
            ..LetterSendRequest::default()
        })
    }

    /// Sets the idempotency key: the same key again is the same letter. Without it, every call sends another letter.
    pub fn dispatch_id(mut self, id: impl Into<String>) -> Self {
        self.0.dispatch_id = Some(id.into());
        self
    }

    /// Sets the kind: information or a task.
    pub const fn kind(mut self, kind: PayloadKind) -> Self {
        self.0.kind = kind;
        self
    }

    /// Sets a label for the receiver.
    pub fn event_type(mut self, label: impl Into<String>) -> Self {
        self.0.event_type = Some(label.into());
        self
    }

    /// Sets the id that correlates the reply.
    pub fn correlation_id(mut self, id: impl Into<String>) -> Self {
        self.0.correlation_id = Some(id.into());
        self
    }

    /// Lets a [`notify`](Peers::notify) go only these of the agent's ways: `road`, `webhook`, `file-drop` or `tmux`.
    pub fn connectors<T: Into<String>>(mut self, names: impl IntoIterator<Item = T>) -> Self {
        self.0.connectors = Some(names.into_iter().map(Into::into).collect());
        self
    }

    /// Wakes this session of the agent, in place of the one in its address.
    pub fn session(mut self, session: impl Into<String>) -> Self {
        self.0.session_id = Some(session.into());
        self
    }

    /// Wakes the agent with the letter at this time.
    pub fn when(mut self, at: Timestamp) -> Self {
        self.0.when = Some(When::At(Millis(at.as_millisecond())));
        self
    }

    fn to_request(&self, op: LetterOp) -> LetterSendRequest {
        LetterSendRequest { op, ..self.0.clone() }
    }
}

impl Peers {
    /// Returns the agents that can be written to: the tenant's own, and those of other tenants if both sides granted
    /// it.
    ///
    /// # Errors
    ///
    /// The desk did not answer, or refused the call.
    pub async fn list_agents(&self) -> Result<Vec<ReachableAgent>, PeerError> {
        self.get("list agents", "/v1/agents").await.map(|found: AgentListResponse| found.agents)
    }

    /// Sends a letter by its address: with an `@` the agent is woken with it, otherwise it is delivered. The answer
    /// contains the result of each way, including failures.
    ///
    /// # Errors
    ///
    /// The desk did not answer, or refused the call.
    pub async fn notify(&self, letter: &Letter) -> Result<LetterSendResponse, PeerError> {
        self.post("send a letter", "/v1/letters", &letter.to_request(LetterOp::Notify)).await
    }

    /// Delivers a letter.
    ///
    /// # Errors
    ///
    /// The desk did not answer, or refused the call.
    pub async fn deliver(&self, letter: &Letter) -> Result<LetterSendResponse, PeerError> {
        self.post("send a letter", "/v1/letters", &letter.to_request(LetterOp::Deliver)).await
    }

    /// Wakes an agent with a letter, now or at its [time](Letter::when).
    ///
    /// # Errors
    ///
    /// The desk did not answer, or refused the call.
    pub async fn wake(&self, letter: &Letter) -> Result<LetterSendResponse, PeerError> {
        self.post("wake an agent", "/v1/letters", &letter.to_request(LetterOp::Wake)).await
    }

    /// Delivers a letter and waits for the reply until the time is over, at most five minutes.
    ///
    /// # Errors
    ///
    /// No reply arrived in time (`no-reply`), the desk did not answer, or refused the call.
    pub async fn exchange(&self, letter: &Letter, wait: Duration) -> Result<Response, PeerError> {
        const WHAT: &str = "exchange letters";
        let wait = wait.min(EXCHANGE_WAIT_MAX);
        let timeout_ms = u64::try_from(wait.as_millis()).ok();
        let asked = LetterSendRequest { timeout_ms, ..letter.to_request(LetterOp::Exchange) };
        let sent: LetterSendResponse =
            self.post_within(wait + ASK_WAIT, WHAT, "/v1/letters", &asked).await?;
        sent.response.ok_or(PeerError::Unreadable(WHAT))
    }

    /// Returns a page of letters that the agent sent, newest first: the first page, or the letters older than one.
    ///
    /// # Errors
    ///
    /// The desk did not answer, or refused the call.
    pub async fn letters(&self, before: Option<&str>) -> Result<Vec<SentLetter>, PeerError> {
        let path = match before {
            Some(id) => format!("/v1/letters?before={}", escape_text(id)),
            None => "/v1/letters".to_owned(),
        };
        self.get("list letters", &path).await.map(|found: LetterListResponse| found.letters)
    }

    /// Returns a letter that the agent sent, and its result. `None`: the agent sent no such letter.
    ///
    /// # Errors
    ///
    /// The desk did not answer, or refused the call.
    pub async fn letter(&self, id: &str) -> Result<Option<SentLetter>, PeerError> {
        self.find("read a letter", &format!("/v1/letters/{}", escape_text(id))).await
    }
}
