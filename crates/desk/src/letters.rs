//! Services of the desk for letters between agents.

mod scheduled;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use nightdesk_letters::{
    DeskConnector, FailureCause, LetterBackend, LetterSender, LetterTurn, Letters, Party,
};
use nightdesk_schedule::Scheduler;
use nightdesk_types::{Actor, LetterId, StopOutcome, StoreError, Timestamp};

pub use scheduled::arm_request;
pub(crate) use scheduled::{deliver_fire, record_seq};

use crate::limits::LimitedAction;
use crate::stopping::{StopOrder, StopOrigin, StopSession};
use crate::{Limits, Stopping, Stops, Waking};

/// The letters of a node and the services of the desk that they use.
#[derive(Debug)]
pub struct LetterContext {
    letters: Arc<Letters>,
    limits: Arc<Limits>,
    schedule: Arc<Scheduler>,
    waking: Arc<Waking>,
    stopping: Arc<Stopping>,
}

impl LetterContext {
    pub(crate) fn new(stops: &Stops, waking: &Arc<Waking>, stopping: &Arc<Stopping>) -> Self {
        let Stops { letters, limits, schedule, .. } = stops.clone();
        let (waking, stopping) = (Arc::clone(waking), Arc::clone(stopping));
        Self { letters, limits, schedule, waking, stopping }
    }
}

/// Returns the letters of this agent, for a caller that acts for it.
pub fn letter_sender(context: &Arc<LetterContext>, from: Party) -> LetterSender {
    LetterSender::new(letter_connector(context, from))
}

/// Returns the desk's connector for letters of this agent.
pub fn letter_connector(context: &Arc<LetterContext>, from: Party) -> DeskConnector {
    DeskConnector::new(&context.letters, Arc::<LetterContext>::clone(context), from)
}

#[async_trait]
impl LetterBackend for LetterContext {
    async fn count_letter(&self, from: Party, to: Party) -> Result<(), Duration> {
        let pair = format!("{} {}", from.agent, to.agent);
        self.limits.allow_among_all(LimitedAction::Letter, &pair).await
    }

    fn call_agent(&self, agent: Party) {
        self.waking.call(agent.scope, agent.agent);
    }

    async fn stop_turn(&self, turn: LetterTurn) -> Result<StopOutcome, StoreError> {
        let LetterTurn { agent, source } = turn;
        let session = StopSession::of_source(source, None);
        let order = StopOrder { session, origin: StopOrigin::Letter, drops_waiting: false };
        self.stopping.stop(agent, &order).await.map(|report| report.outcome)
    }

    async fn schedule(
        &self,
        to: Party,
        letter: LetterId,
        when: Timestamp,
    ) -> Result<(), FailureCause> {
        let Some(arm) = arm_request(letter, when) else { return Ok(()) };
        // The letter of a user is audited; its job is the desk's own act.
        let scope = to.scope.with_actor(Actor::Desk);
        let armed = self.schedule.arm(scope, to.agent, &arm).await;
        armed.map(drop).map_err(|error| FailureCause::Network(error.to_string()))
    }
}
