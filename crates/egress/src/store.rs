//! The store interface of egress.

use std::time::Duration;

use async_trait::async_trait;
use nightdesk_gate::AdmittedSend;
use nightdesk_lease::Owner;
use nightdesk_types::{AgentId, BotId, Node, RequestId, Send, StoreError, TenantScope};

use crate::SendResult;

/// The key of a send.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SendKey {
    /// The tenant.
    pub scope: TenantScope,
    /// The agent that requested it.
    pub agent: AgentId,
    /// The gateway's id of the request.
    pub request: RequestId,
}

impl From<&AdmittedSend> for SendKey {
    fn from(send: &AdmittedSend) -> Self {
        Self { scope: send.scope(), agent: send.agent(), request: send.request().clone() }
    }
}

/// The state of a requested send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SendState {
    /// It is new, and its row is written.
    New,
    /// It was requested before, with this result.
    Settled(SendResult),
    /// It was requested before, and is not settled.
    UnderWay,
}

/// A send that waits for the owner of its bot.
#[derive(Clone, Debug, PartialEq)]
pub struct WaitingSend {
    /// The key of the send.
    pub key: SendKey,
    /// The bot that it goes through.
    pub bot: BotId,
    /// The action.
    pub send: Send,
    /// The node that got the request, if it is known.
    pub asked_on: Option<String>,
    /// The time that it has waited.
    pub waits_for: Duration,
}

/// A send that was abandoned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AbandonedSend {
    /// The agent that requested it.
    pub agent: AgentId,
    /// The gateway's id of the request.
    pub request: RequestId,
    /// The node that got the request, if it is known.
    pub asked_on: Option<String>,
}

/// Stores sends.
#[async_trait]
pub trait Store: std::marker::Send + Sync {
    /// Writes the row of a send that this node got, once per request.
    async fn record_request(
        &self,
        send: &AdmittedSend,
        asked_on: &str,
    ) -> Result<SendState, StoreError>;

    /// Returns the state of a send, if it was requested.
    async fn send_state(&self, send: &SendKey) -> Result<Option<SendState>, StoreError>;

    /// Claims a requested send directly before its call. Returns true if it was free and the owner still owns its bot.
    /// The caller that gets `true` makes the only call.
    async fn claim(&self, send: &SendKey, owner: &Owner) -> Result<bool, StoreError>;

    /// Stores the result of the call, and the agent as the sender of the messages that the send made. A send that
    /// changes a message makes none. Returns true if the node still held the send.
    async fn settle(
        &self,
        send: &SendKey,
        node: &Node,
        settled: &SendResult,
    ) -> Result<bool, StoreError>;

    /// Marks a send as not executed, so that no node may execute it any more. Returns true if no node had begun it.
    async fn retract(
        &self,
        send: &SendKey,
        node: &Node,
        why: &SendResult,
    ) -> Result<bool, StoreError>;

    /// Returns sends that wait for the bots of a node, oldest first.
    async fn waiting_sends(
        &self,
        node: &Node,
        sends_max: usize,
    ) -> Result<Vec<WaitingSend>, StoreError>;

    /// Returns bots with waiting sends whose owner is not alive.
    async fn ownerless_bots(&self, bots_max: usize) -> Result<Vec<BotId>, StoreError>;

    /// Abandons the calls that a dead node had begun, because their result is unknown.
    async fn abandon_sends(&self, sends_max: usize) -> Result<Vec<AbandonedSend>, StoreError>;
}
