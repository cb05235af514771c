//! Services of the desk for letters between agents.

mod later;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use nightdesk_letters::{Cause, DeskConnector, LetterBackend, LetterSender, Party};
use nightdesk_types::{LetterId, Timestamp};

pub use later::arming;
pub(crate) use later::{deliver_fire, record_seq};

use crate::limits::What;
use crate::{Desk, waking};

/// Returns the letters of this agent, for a caller that acts for it.
pub fn letter_sender(desk: &Arc<Desk>, from: Party) -> LetterSender {
    LetterSender::new(letter_connector(desk, from))
}

/// Returns the desk's connector for letters of this agent.
pub fn letter_connector(desk: &Arc<Desk>, from: Party) -> DeskConnector {
    DeskConnector::new(&desk.letters, Arc::new(DeskServices(Arc::clone(desk))), from)
}

struct DeskServices(Arc<Desk>);

#[async_trait]
impl LetterBackend for DeskServices {
    async fn count_letter(&self, from: Party, to: Party) -> Result<(), Duration> {
        let pair = format!("{} {}", from.agent, to.agent);
        self.0.limits.allow_among_all(What::Letter, &pair).await
    }

    fn call_agent(&self, agent: Party) {
        waking::call(&self.0, agent.scope, agent.agent);
    }

    async fn schedule(&self, to: Party, letter: LetterId, when: Timestamp) -> Result<(), Cause> {
        let Some(arm) = arming(letter, when) else { return Ok(()) };
        let armed = self.0.schedule.arm(to.scope, to.agent, &arm).await;
        armed.map(drop).map_err(|error| Cause::Network(error.to_string()))
    }
}
