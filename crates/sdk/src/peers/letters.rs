//! Letters: what an agent sends to another.

use std::time::Duration;

use nightdesk_protocol::delivery::{Kind, Response, When};
use nightdesk_protocol::http::letters::{Agent, Agents, List, Op, Send, Sent, Shown};
use nightdesk_types::Timestamp;
use nightdesk_types::limits::EXCHANGE_WAIT_MAX;

use super::{Millis, PeerError, Peers, escaped};
use crate::limits::ASK_WAIT;

/// A letter to an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "a letter says nothing until it is sent"]
pub struct Letter(Send);

impl Letter {
    /// One that says this. The agent is named by its name or id, or by the id it has with another tenant; a session
    /// of it stands after an `@`.
    pub fn to(agent: impl Into<String>, words: impl Into<String>) -> Self {
        Self(Send { agent: agent.into(), message: words.into(), ..Send::default() })
    }

    /// The same again is the same letter. Without this, every call sends another.
    pub fn dispatch_id(mut self, id: impl Into<String>) -> Self {
        self.0.dispatch_id = Some(id.into());
        self
    }

    /// Whether it is to be known, or to be done.
    pub const fn kind(mut self, kind: Kind) -> Self {
        self.0.kind = kind;
        self
    }

    /// Has a label by which the receiver sorts.
    pub fn event_type(mut self, label: impl Into<String>) -> Self {
        self.0.event_type = Some(label.into());
        self
    }

    /// The reply is known by this.
    pub fn correlation_id(mut self, id: impl Into<String>) -> Self {
        self.0.correlation_id = Some(id.into());
        self
    }

    /// Wakes this session of the agent, whatever its address says.
    pub fn session(mut self, session: impl Into<String>) -> Self {
        self.0.session_id = Some(session.into());
        self
    }

    /// Wakes the agent with it only then.
    pub fn when(mut self, at: Timestamp) -> Self {
        self.0.when = Some(When::At(Millis(at.as_millisecond())));
        self
    }

    fn asking(&self, op: Op) -> Send {
        Send { op, ..self.0.clone() }
    }
}

impl Peers {
    /// Who can be written to: the tenant's own agents, and those of others if both sides granted it.
    ///
    /// # Errors
    ///
    /// The desk did not answer, or said no.
    pub async fn list_agents(&self) -> Result<Vec<Agent>, PeerError> {
        self.get("list agents", "/v1/agents").await.map(|found: Agents| found.agents)
    }

    /// Sends a letter as its address says: with an `@` the agent is woken with it, otherwise it is handed over. What
    /// came of it by each way is in the answer, also what failed.
    ///
    /// # Errors
    ///
    /// The desk did not answer, or said no.
    pub async fn notify(&self, letter: &Letter) -> Result<Sent, PeerError> {
        self.post("send a letter", "/v1/letters", &letter.asking(Op::Notify)).await
    }

    /// Hands a letter over.
    ///
    /// # Errors
    ///
    /// The desk did not answer, or said no.
    pub async fn deliver(&self, letter: &Letter) -> Result<Sent, PeerError> {
        self.post("send a letter", "/v1/letters", &letter.asking(Op::Deliver)).await
    }

    /// Wakes an agent with a letter, now or [when](Letter::when) it says.
    ///
    /// # Errors
    ///
    /// The desk did not answer, or said no.
    pub async fn wake(&self, letter: &Letter) -> Result<Sent, PeerError> {
        self.post("wake an agent", "/v1/letters", &letter.asking(Op::Wake)).await
    }

    /// Hands a letter over and waits for the reply to it: there is one, or the time is over. At most five minutes are
    /// waited.
    ///
    /// # Errors
    ///
    /// Nobody replied in time (`no-reply`), the desk did not answer, or said no.
    pub async fn exchange(&self, letter: &Letter, wait: Duration) -> Result<Response, PeerError> {
        const WHAT: &str = "exchange letters";
        let wait = wait.min(EXCHANGE_WAIT_MAX);
        let timeout_ms = u64::try_from(wait.as_millis()).ok();
        let asked = Send { timeout_ms, ..letter.asking(Op::Exchange) };
        let sent: Sent = self.post_within(wait + ASK_WAIT, WHAT, "/v1/letters", &asked).await?;
        sent.response.ok_or(PeerError::Unreadable(WHAT))
    }

    /// Letters that the agent sent, newest first, at most a page: the first one, or what is older than a letter.
    ///
    /// # Errors
    ///
    /// The desk did not answer, or said no.
    pub async fn letters(&self, before: Option<&str>) -> Result<Vec<Shown>, PeerError> {
        let path = match before {
            Some(id) => format!("/v1/letters?before={}", escaped(id)),
            None => "/v1/letters".to_owned(),
        };
        self.get("list letters", &path).await.map(|found: List| found.letters)
    }

    /// A letter that the agent sent, and what came of it. `None`: it sent no such letter.
    ///
    /// # Errors
    ///
    /// The desk did not answer, or said no.
    pub async fn letter(&self, id: &str) -> Result<Option<Shown>, PeerError> {
        self.find("look at a letter", &format!("/v1/letters/{}", escaped(id))).await
    }
}
