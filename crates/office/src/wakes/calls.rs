//! Calls of sleeping agents.

use std::time::Duration;

use nightdesk_inbox::LocalEntry;
use nightdesk_types::limits::{
    CALL_GAP, CALL_POLLED_EVERY, OUTSIDE_CALL_WAIT, UNRECORDED_CALL_GAP, WAKE_SWEEP_EVERY,
};
use nightdesk_types::{AgentId, Seq, TenantScope, Timestamp};
use nightdesk_wake::{AgentWakeStatus, CallOutcome};
use serde::Serialize;
use tokio::time::{Instant, sleep};
use utoipa::ToSchema;

use super::no_inbox;
use crate::error::OfficeError;
use crate::office::Office;
use crate::times::seconds;

/// A call of an agent.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct WakeCallView {
    /// The agent.
    #[schema(value_type = String)]
    pub agent_id: AgentId,
    /// The outcome of the call.
    pub outcome: String,
}

/// A test entry, and the call that it caused.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct WakeTrialView {
    /// The agent.
    #[schema(value_type = String)]
    pub agent_id: AgentId,
    /// The number of the test entry.
    pub seq: i64,
    /// True if the call succeeded. Only the agent's line shows that the agent is up.
    pub called: bool,
    /// The outcome of the call.
    pub outcome: String,
    /// The URL that the agent's gateway dials.
    pub dial_url: String,
}

impl Office {
    /// Calls a sleeping agent now, even if no entry waits for it.
    pub async fn call_agent(
        &self,
        scope: TenantScope,
        agent: AgentId,
    ) -> Result<WakeCallView, OfficeError> {
        let before = self.sleeping(scope, agent).await?;
        let called_before = before.wake.and_then(|wake| wake.called_at);
        self.store.request_call(scope, agent).await?;
        let now = self.desk.stops.register.store().time().await?;
        let rests =
            called_before.is_some_and(|at| now.duration_since(at).unsigned_abs() < CALL_GAP);
        let wait = if rests { Duration::ZERO } else { OUTSIDE_CALL_WAIT };
        if let Some(outcome) = self.call_within(scope, agent, called_before, wait).await? {
            return Ok(WakeCallView { agent_id: agent, outcome: outcome_text(&outcome) });
        }
        let status = self.wake_status(scope, agent).await?;
        Err(OfficeError::Conflict(no_call_reason(&status)))
    }

    /// Puts a test entry into the inbox of a sleeping agent, and calls the agent.
    pub async fn try_wake(
        &self,
        scope: TenantScope,
        agent: AgentId,
    ) -> Result<WakeTrialView, OfficeError> {
        let before = self.sleeping(scope, agent).await?;
        self.check_waker(scope, &before).await?;
        let seq = self.put_test_entry(scope, agent).await?;
        let called_before = before.wake.and_then(|wake| wake.called_at);
        // The agent may have been called just now, so the next call waits for its turn.
        let wait = UNRECORDED_CALL_GAP + WAKE_SWEEP_EVERY * 2;
        let outcome = self.call_within(scope, agent, called_before, wait).await?;
        Ok(WakeTrialView {
            agent_id: agent,
            seq: seq.get(),
            called: matches!(outcome, Some(CallOutcome::Taken(_))),
            outcome: outcome.as_ref().map_or_else(
                || "no call was made; `nightdesk wake status` shows why".to_owned(),
                outcome_text,
            ),
            dial_url: self.desk.stops.public_url.clone(),
        })
    }

    /// Returns the status of an agent that has no line.
    async fn sleeping(
        &self,
        scope: TenantScope,
        agent: AgentId,
    ) -> Result<AgentWakeStatus, OfficeError> {
        let status = self.wake_status(scope, agent).await?;
        match status.line_since {
            None => Ok(status),
            Some(since) => Err(OfficeError::Conflict(format!(
                "the agent is awake, with a line since {}; stop it, or wait until it goes idle, and \
                 repeat the request",
                seconds(since)
            ))),
        }
    }

    /// Checks that the desk can call the agent.
    async fn check_waker(
        &self,
        scope: TenantScope,
        status: &AgentWakeStatus,
    ) -> Result<(), OfficeError> {
        let is_callable = status.urls > 0
            || self.desk.stops.wake.has_command()
            || self.store.webhook(scope, status.agent).await?.is_some();
        if is_callable { Ok(()) } else { Err(OfficeError::Conflict(NO_WAKER.to_owned())) }
    }

    async fn put_test_entry(&self, scope: TenantScope, agent: AgentId) -> Result<Seq, OfficeError> {
        let bots = self.desk.stops.register.store().bots_of(scope, agent).await?;
        let entry =
            bots.iter().find_map(|bot| LocalEntry::for_bot(bot.id, &bot.platform, &bot.handle));
        let entry = entry.ok_or_else(|| {
            OfficeError::Conflict(
                "the agent has no binding or grant on any bot, so it cannot receive events; create one \
                 with `nightdesk binding create` or `nightdesk grant create`"
                    .to_owned(),
            )
        })?;
        self.store.put_local(scope, agent, &entry).await?.ok_or_else(no_inbox)
    }

    /// Calls an agent whose wake is due, or waits for the call of another node. `None`: there was no call within this
    /// time.
    async fn call_within(
        &self,
        scope: TenantScope,
        agent: AgentId,
        called_before: Option<Timestamp>,
        wait: Duration,
    ) -> Result<Option<CallOutcome>, OfficeError> {
        let until = Instant::now() + wait;
        loop {
            if let Some(outcome) = self.desk.waking.call_if_due(scope, agent).await? {
                return Ok(Some(outcome));
            }
            let status = self.wake_status(scope, agent).await?;
            let made = status.wake.as_ref().filter(|wake| wake.called_at != called_before);
            if let Some(outcome) = made.and_then(|wake| wake.outcome.clone()) {
                return Ok(Some(CallOutcome::Taken(outcome)));
            }
            if lacks_waker(&status) || Instant::now() >= until {
                return Ok(None);
            }
            sleep(CALL_POLLED_EVERY).await;
        }
    }
}

const NO_WAKER: &str = "the agent has no wake URL; set one with `nightdesk agent wake-url`, or wake.command in the \
                        configuration";

/// Returns true if the last claim found neither a URL nor a command.
fn lacks_waker(status: &AgentWakeStatus) -> bool {
    let outcome = status.wake.as_ref().and_then(|wake| wake.outcome.as_deref());
    status.urls == 0 && outcome == Some("no waker")
}

/// Returns the reason that there was no call to make.
fn no_call_reason(status: &AgentWakeStatus) -> String {
    if lacks_waker(status) {
        return NO_WAKER.to_owned();
    }
    let gap = CALL_GAP.as_secs();
    format!(
        "the agent was called within the last {gap} seconds; `nightdesk wake status` shows the result"
    )
}

/// Formats the outcome of a call for a person.
fn outcome_text(outcome: &CallOutcome) -> String {
    match outcome {
        CallOutcome::Taken(words) | CallOutcome::Failed(words) => words.clone(),
        CallOutcome::PutOff(Duration::ZERO) => {
            "not made: the node stalled before the call; a node makes it, or repeat the request"
                .to_owned()
        }
        CallOutcome::PutOff(wait) => format!(
            "not made: the host's rate limit is reached; the call is made in {} s; outside.rates sets the \
             limit",
            wait.as_secs().max(1)
        ),
    }
}
