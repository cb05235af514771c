//! The desk as a line sees it.

use async_trait::async_trait;
use futures_util::future::BoxFuture;
use nightdesk_inbox::LineClaim;
use nightdesk_protocol::Bearer;
use nightdesk_protocol::frame::{Interrupt, Outbound};
use nightdesk_protocol::hello::Hello;
use nightdesk_protocol::outcome::Outcome;
use nightdesk_types::{ClientRules, StopOutcome, StopReceiver, StoreError, Timestamp};

use crate::admission::DialLimits;
use crate::session::HelloLookup;
use crate::store::AuthenticatedGateway;

/// The result of identifying a dial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdentifyOutcome {
    /// It is this gateway.
    Welcome(AuthenticatedGateway),
    /// The gateway was revoked, as its credential proves.
    Revoked,
    /// Neither a gateway's secret nor a trusted issuer verifies the credential.
    Unknown,
}

/// The functions of the desk behind the lines.
#[async_trait]
pub trait LineHandler: Send + Sync {
    /// Identifies the gateway of a dial. Only after the dial has proved something does it take a turn of `dials`, so
    /// forged dials leave the turns to genuine ones.
    async fn identify(
        &self,
        shown: &Bearer<'_>,
        now: Timestamp,
        dials: &DialLimits,
    ) -> Result<IdentifyOutcome, StoreError>;

    /// Answers a hello with the platform's capabilities.
    async fn greet(
        &self,
        caller: &AuthenticatedGateway,
        hello: &Hello,
    ) -> Result<HelloLookup, StoreError>;

    /// Performs an action as a bot that the line sent a hello for. It continues if the caller drops the future.
    fn send(
        &self,
        caller: AuthenticatedGateway,
        hellos: Vec<Hello>,
        outbound: Outbound,
    ) -> BoxFuture<'static, Outcome>;

    /// Stops a turn of the caller's agent on any node.
    async fn stop(&self, caller: &AuthenticatedGateway, interrupt: Interrupt);

    /// Reports the result of a stop to the node that requested it.
    async fn report_stop(&self, receiver: StopReceiver, outcome: StopOutcome);

    /// Saves the rules for serving the caller's agent from now on.
    async fn follow_rules(
        &self,
        caller: &AuthenticatedGateway,
        rules: ClientRules,
    ) -> Result<(), StoreError>;

    /// Requests a call of the agent although it has this line, because the line does not answer.
    async fn suspect(&self, line: &LineClaim) -> Result<(), StoreError>;
}
