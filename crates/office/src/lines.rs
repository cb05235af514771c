//! The newest line of an agent, its last wakes, and the letters that it received.

use nightdesk_types::{AgentId, LetterId, TenantId, TenantScope, Timestamp, Transport};
use serde::Serialize;
use utoipa::ToSchema;

use crate::error::OfficeError;
use crate::office::Office;
use crate::reads::{LineGlance, LoggedWake, ReceivedLetter};
use crate::times::{milliseconds_between, seconds};

/// The newest line of an agent.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct LineView {
    /// The number of the line: the agent had as many.
    pub number: i64,
    /// The name of its gateway.
    pub gateway: String,
    /// The transport of its frames.
    pub transport: &'static str,
    /// The name of its node.
    pub node: String,
    /// True if it is open on a node that lives.
    pub open: bool,
    /// The time at which it was opened.
    pub opened_at: String,
    /// The time at which it was closed.
    pub closed_at: Option<String>,
    /// The reason of its end, in words.
    pub ended_because: Option<&'static str>,
}

impl From<LineGlance> for LineView {
    fn from(line: LineGlance) -> Self {
        Self {
            number: line.generation.get(),
            gateway: line.gateway,
            transport: Transport::slug(line.transport),
            node: line.node,
            open: line.is_open,
            opened_at: seconds(line.opened_at),
            closed_at: line.closed_at.map(seconds),
            ended_because: line.parting.as_deref().map(parting_text),
        }
    }
}

/// Returns the side that ended a line, in words.
fn parting_text(parting: &str) -> &'static str {
    match parting {
        "idle" => "its client went to sleep",
        "client" => "its client hung up or vanished",
        "desk" => "the desk closed it",
        "undelivered" => "an entry could not be posted",
        _ => "its node ended",
    }
}

/// A wake of an agent that ended, with its times in milliseconds.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct LoggedWakeView {
    /// Its number.
    pub number: i64,
    /// The time since which the agent was needed.
    pub needed_at: String,
    /// The number of calls.
    pub calls: u32,
    /// The milliseconds until the end of the last call. Null: no call was made.
    pub called_after_ms: Option<i64>,
    /// The outcome of the last call.
    pub outcome: Option<String>,
    /// The milliseconds until the agent dialled in. Null: the desk gave up.
    pub woken_after_ms: Option<i64>,
    /// The time at which it ended.
    pub ended_at: String,
}

impl From<LoggedWake> for LoggedWakeView {
    fn from(wake: LoggedWake) -> Self {
        let after = |at: Timestamp| milliseconds_between(wake.since, at);
        Self {
            number: wake.number,
            needed_at: seconds(wake.since),
            calls: wake.calls,
            called_after_ms: wake.called_at.map(after),
            woken_after_ms: wake.woken_at.map(after),
            outcome: wake.outcome,
            ended_at: seconds(wake.ended_at),
        }
    }
}

/// A letter that an agent received, without its text.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ReceivedLetterView {
    /// The letter.
    #[schema(value_type = String)]
    pub letter_id: LetterId,
    /// The sender's tenant.
    #[schema(value_type = String)]
    pub from_tenant_id: TenantId,
    /// The sender.
    #[schema(value_type = String)]
    pub from_agent_id: AgentId,
    /// The sender's name, if it is of the same tenant.
    pub from: Option<String>,
    /// The length of the chain of letters that it ends.
    pub hop: u32,
    /// The time at which it was put into the inbox.
    pub received_at: String,
}

impl From<ReceivedLetter> for ReceivedLetterView {
    fn from(letter: ReceivedLetter) -> Self {
        Self {
            letter_id: letter.id,
            from_tenant_id: letter.from_tenant,
            from_agent_id: letter.from,
            from: letter.from_name,
            hop: letter.hop,
            received_at: seconds(letter.put_at),
        }
    }
}

impl Office {
    /// Returns the newest line of an agent. `None`: it never had one.
    pub async fn newest_line(
        &self,
        scope: TenantScope,
        agent: AgentId,
    ) -> Result<Option<LineView>, OfficeError> {
        Ok(self.store.newest_line(scope, agent).await?.map(LineView::from))
    }

    /// Returns the last wakes of an agent that ended, newest first.
    pub async fn logged_wakes(
        &self,
        scope: TenantScope,
        agent: AgentId,
    ) -> Result<Vec<LoggedWakeView>, OfficeError> {
        let wakes = self.store.logged_wakes(scope, agent).await?;
        Ok(wakes.into_iter().map(LoggedWakeView::from).collect())
    }

    /// Returns the newest letters that an agent received, newest first.
    pub async fn received_letters(
        &self,
        scope: TenantScope,
        agent: AgentId,
    ) -> Result<Vec<ReceivedLetterView>, OfficeError> {
        let letters = self.store.received_letters(scope, agent).await?;
        Ok(letters.into_iter().map(ReceivedLetterView::from).collect())
    }
}
