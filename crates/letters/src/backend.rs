//! Services of the desk that letters need.

use std::time::Duration;

use async_trait::async_trait;
use nightdesk_types::event::Source;
use nightdesk_types::{LetterId, StopOutcome, StoreError, Timestamp};

use crate::error::FailureCause;
use crate::letter::Party;

/// The turn of an agent on a letter.
#[derive(Clone, Debug)]
pub struct LetterTurn {
    /// The recipient of the letter.
    pub agent: Party,
    /// The source of the letter.
    pub source: Source,
}

/// The services of other stops that a letter needs on its path. The desk implements them.
#[async_trait]
pub trait LetterBackend: Send + Sync {
    /// Counts a letter against the rate limit of these two agents. `Err`: the delay until one more is allowed.
    async fn count_letter(&self, from: Party, to: Party) -> Result<(), Duration>;

    /// Calls an agent in the background if its wake is due.
    fn call_agent(&self, agent: Party);

    /// Stops the turn of an agent's session.
    async fn stop_turn(&self, turn: LetterTurn) -> Result<StopOutcome, StoreError>;

    /// Schedules the delivery of a stored letter. Repeated calls change nothing.
    async fn schedule(
        &self,
        to: Party,
        letter: LetterId,
        when: Timestamp,
    ) -> Result<(), FailureCause>;
}
