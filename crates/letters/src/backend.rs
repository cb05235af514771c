//! Services of the desk that letters need.

use std::time::Duration;

use async_trait::async_trait;
use nightdesk_types::{LetterId, Timestamp};

use crate::error::FailureCause;
use crate::letter::Party;

/// The services of other stops that a letter needs on its path. The desk implements them.
#[async_trait]
pub trait LetterBackend: Send + Sync {
    /// Counts a letter against the rate limit of these two agents. `Err`: the delay until one more is allowed.
    async fn count_letter(&self, from: Party, to: Party) -> Result<(), Duration>;

    /// Calls an agent in the background if its wake is due.
    fn call_agent(&self, agent: Party);

    /// Schedules the delivery of a stored letter. Repeated calls change nothing.
    async fn schedule(
        &self,
        to: Party,
        letter: LetterId,
        when: Timestamp,
    ) -> Result<(), FailureCause>;
}
