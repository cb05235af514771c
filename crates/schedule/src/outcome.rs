//! What comes of telling an agent.

use std::time::Duration;

use async_trait::async_trait;
use nightdesk_types::{Seq, StoreError};

use crate::fire::Claimed;
use crate::store::FireEntry;

/// What came of one try. The words are for whoever looks after the agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The agent took the fire. It is not told again.
    Taken(String),
    /// It did not, this time; perhaps it wants to be left alone for so long.
    Again(String, Option<Duration>),
    /// It does not want it.
    Refused(String),
    /// It does not believe that we are who calls.
    Unauthorised,
    /// Nobody was called: there are too many calls. One may be made after so long.
    PutOff(Duration),
}

/// What is written down of a call whose token was not believed. The next call with the same outcome is
/// the last.
pub(crate) const UNAUTHORISED: &str =
    "the agent did not believe the token (status 401); see its issuer, audience and clock";

/// How an agent that has no callback is told of a fire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Telling {
    /// By this entry, which is to be put into its inbox.
    Put(FireEntry),
    /// Not by an entry: this is what came of it.
    Came(Outcome),
}

/// Says how agents are told that have no callback.
#[async_trait]
pub trait Deliver: Send + Sync {
    /// How an agent is told of a fire, with these words.
    async fn telling(&self, fire: &Claimed, words: &str) -> Result<Telling, StoreError>;

    /// It is stored under this number: its agent is told, and called if it sleeps.
    async fn stored(&self, fire: &Claimed, seq: Seq);
}
