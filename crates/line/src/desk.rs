//! What a line asks of the desk.

use async_trait::async_trait;
use futures_util::future::BoxFuture;
use nightdesk_inbox::LineClaim;
use nightdesk_protocol::Bearer;
use nightdesk_protocol::frame::{Interrupt, Outbound};
use nightdesk_protocol::hello::Hello;
use nightdesk_protocol::outcome::Outcome;
use nightdesk_types::{ClientRules, StoreError, Timestamp};

use crate::session::Greeted;
use crate::store::Caller;

/// Which gateway a dial is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Greeting {
    /// It is this gateway.
    Welcome(Caller),
    /// It was one, and was revoked: what it shows proves it.
    Revoked,
    /// Neither a gateway's secret nor a trusted issuer stands behind what it shows.
    Unknown,
}

/// What stands behind the lines.
#[async_trait]
pub trait Desk: Send + Sync {
    /// Says which gateway a dial is.
    async fn identify(&self, shown: &Bearer<'_>, now: Timestamp) -> Result<Greeting, StoreError>;

    /// Answers a hello: what the platform can do.
    async fn greet(&self, caller: &Caller, hello: &Hello) -> Result<Greeted, StoreError>;

    /// Does something on a platform, as a bot that the line said hello for. The work goes on if the answer is not waited for.
    fn send(
        &self,
        caller: Caller,
        hellos: Vec<Hello>,
        outbound: Outbound,
    ) -> BoxFuture<'static, Outcome>;

    /// Stops a turn of the caller's agent, wherever it runs.
    async fn stop(&self, caller: &Caller, interrupt: Interrupt);

    /// Notes by which rules the caller's agent is served from now on.
    async fn follow_rules(&self, caller: &Caller, rules: ClientRules) -> Result<(), StoreError>;

    /// Has the agent called, although it has this line: nobody answers on it.
    async fn suspect(&self, line: &LineClaim) -> Result<(), StoreError>;
}
