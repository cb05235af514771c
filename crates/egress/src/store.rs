//! What the way out asks of a store.

use std::time::Duration;

use async_trait::async_trait;
use nightdesk_gate::AdmittedSend;
use nightdesk_lease::Owner;
use nightdesk_types::{AgentId, BotId, Node, RequestId, Send, StoreError, TenantScope};

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

/// What is known of a send that is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asked {
    /// It is new, and written down.
    New,
    /// It was asked for before, and this came of it.
    Settled(Settled),
    /// It was asked for before, and is not settled.
    UnderWay,
}

/// A send that waits for the owner of its bot.
#[derive(Clone, Debug, PartialEq)]
pub struct Waiting {
    /// Which send.
    pub key: SendKey,
    /// Through which bot it goes.
    pub bot: BotId,
    /// What is done.
    pub send: Send,
    /// The node that was asked, if it is known.
    pub asked_on: Option<String>,
    /// How long it waits already.
    pub waits_for: Duration,
}

/// A send that was given up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GivenUp {
    /// Who asked for it.
    pub agent: AgentId,
    /// What the gateway calls it.
    pub request: RequestId,
    /// The node that was asked, if it is known.
    pub asked_on: Option<String>,
}

/// Keeps sends.
#[async_trait]
pub trait Store: std::marker::Send + Sync {
    /// Writes a send down that this node was asked for, once per request.
    async fn ask(&self, send: &AdmittedSend, asked_on: &str) -> Result<Asked, StoreError>;

    /// What came of a send that was asked for.
    async fn look(&self, send: &SendKey) -> Result<Asked, StoreError>;

    /// Takes a send that was asked for, right before its call. Answers whether it was free, and
    /// its bot still the owner's: whoever gets `true` makes the one call.
    async fn claim(&self, send: &SendKey, owner: &Owner) -> Result<bool, StoreError>;

    /// Notes what came of the call. Answers whether the send was still the node's.
    async fn settle(
        &self,
        send: &SendKey,
        node: &Node,
        settled: &Settled,
    ) -> Result<bool, StoreError>;

    /// Notes that a send was not done, and that nobody may do it any more. Answers whether nobody
    /// had begun.
    async fn retract(&self, send: &SendKey, node: &Node, why: &Settled)
    -> Result<bool, StoreError>;

    /// Sends that wait for the bots a node owns, oldest first.
    async fn waiting(&self, node: &Node, sends_max: usize) -> Result<Vec<Waiting>, StoreError>;

    /// Bots for which something waits, and that nobody living owns.
    async fn ownerless(&self, bots_max: usize) -> Result<Vec<BotId>, StoreError>;

    /// Gives the calls up that a node had begun whose life is over: nobody knows whether they were
    /// made.
    async fn give_up(&self, sends_max: usize) -> Result<Vec<GivenUp>, StoreError>;
}
