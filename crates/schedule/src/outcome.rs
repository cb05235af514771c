//! Outcomes of a try to deliver a fire.

use std::time::Duration;

use async_trait::async_trait;
use nightdesk_types::{Seq, StoreError};

use crate::fire::FireClaim;
use crate::store::FireEntry;

/// The outcome of one try. The text is for the operator of the agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FireOutcome {
    /// The agent took the fire, so there is no further try.
    Taken(String),
    /// The agent did not take the fire this time. The duration is its `Retry-After`.
    Again(String, Option<Duration>),
    /// The agent refused the fire.
    Refused(String),
    /// The agent rejected the token.
    Unauthorised,
    /// No call was made because too many are under way. The next try may begin after this time.
    PutOff(Duration),
}

/// Outcome that is recorded when the agent rejects the token. The second such outcome in a row is the last try.
pub(crate) const UNAUTHORISED: &str =
    "the agent did not believe the token (status 401); see its issuer, audience and clock";

/// The delivery of a fire to an agent that has no callback.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InboxDelivery {
    /// An entry to put into its inbox.
    Put(FireEntry),
    /// No entry is put; the try has this outcome.
    Came(FireOutcome),
}

/// Builds the entries for agents that have no callback.
#[async_trait]
pub trait InboxDeliverer: Send + Sync {
    /// Returns the delivery of a fire with this text.
    async fn build_delivery(
        &self,
        fire: &FireClaim,
        words: &str,
    ) -> Result<InboxDelivery, StoreError>;

    /// Runs after the entry is stored under this number: notifies the agent, and wakes it if it sleeps.
    async fn notify_stored(&self, fire: &FireClaim, seq: Seq);
}
