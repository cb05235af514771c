//! What the way out asks of a store.

use async_trait::async_trait;
use nightdesk_gate::AdmittedSend;
use nightdesk_types::{AgentId, BotId, NodeEpoch, RequestId, Send, StoreError, TenantScope};

use crate::Settled;

/// Which send.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SendKey {
    /// For whom it is done.
    pub scope: TenantScope,
    /// Who asked for it.
    pub agent: AgentId,
    /// What the gateway calls it.
    pub request: RequestId,
}

impl From<&AdmittedSend> for SendKey {
    fn from(send: &AdmittedSend) -> Self {
        Self { scope: send.scope(), agent: send.agent(), request: send.request().clone() }
    }
}

/// Who makes calls: a node, in this life of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// The node's name.
    pub node: String,
    /// Its life.
    pub epoch: NodeEpoch,
}

/// What is known of a send that is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asked {
    /// It is new, and written down.
    New,
    /// It was asked for before, and this came of it.
    Settled(Settled),
    /// It was asked for before, and somebody is at work on it.
    UnderWay,
}

/// A send that nobody is at work on any more.
#[derive(Clone, Debug, PartialEq)]
pub struct LeftOver {
    /// Which send.
    pub key: SendKey,
    /// Through which bot it goes.
    pub bot: BotId,
    /// What is done.
    pub send: Send,
    /// Whether its call was begun: then it may have been done.
    pub was_called: bool,
}

/// Keeps sends.
#[async_trait]
pub trait Store: std::marker::Send + Sync {
    /// Writes a send down, once per request.
    async fn ask(&self, send: &AdmittedSend) -> Result<Asked, StoreError>;

    /// Takes a send that was asked for, right before its call. Answers whether it was free:
    /// whoever gets `true` makes the one call.
    async fn claim(&self, send: &SendKey, owner: &Owner) -> Result<bool, StoreError>;

    /// Notes what came of the call. Answers whether the send was still the owner's.
    async fn settle(
        &self,
        send: &SendKey,
        owner: &Owner,
        settled: &Settled,
    ) -> Result<bool, StoreError>;

    /// Sends that were asked for a while ago and not called, and those an earlier life of
    /// this node was calling when it ended.
    async fn left_over(&self, owner: &Owner, sends_max: usize)
    -> Result<Vec<LeftOver>, StoreError>;

    /// Notes that nobody knows whether a call of an earlier life was done.
    async fn give_up(&self, send: &SendKey, owner: &Owner) -> Result<(), StoreError>;
}
