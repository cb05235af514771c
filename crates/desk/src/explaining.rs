//! Explains the outcome of an event and its reasons.
//!
//! It reads only records that the stops write for themselves; nothing is recorded for this purpose alone.

use std::fmt::Debug;

use nightdesk_egress::{PastSend, PastSends, SendPlace, SendResult};
use nightdesk_gate::decide::{GrantExtent, Ground, Verdict};
use nightdesk_gate::{Decision, Recipient, Refusal, StoredRefusal};
use nightdesk_inbox::{EntryDetails, EntryStatus, InboxAdmin};
use nightdesk_types::{EntryId, StoreError, TenantScope, Timestamp, Transport};
use nightdesk_wake::{AgentWakeStatus, WakeAdmin};
use serde_json::{Value, json};

/// All records about events.
pub trait Records: nightdesk_gate::Store + InboxAdmin + WakeAdmin + PastSends + Debug {}

impl<T: nightdesk_gate::Store + InboxAdmin + WakeAdmin + PastSends + Debug> Records for T {}

/// The outcome of an event, as its tenant may see it.
#[derive(Clone, Debug)]
pub enum Explanation {
    /// The event is an entry of an agent's inbox.
    Entry(Box<EntryExplanation>),
    /// The gate refused the event; one record for each attempt.
    Refused(Vec<StoredRefusal>),
    /// There is no record of the event, or no longer one.
    Unknown,
}

/// The state of an entry.
#[derive(Clone, Debug)]
pub struct EntryExplanation {
    /// The entry's id.
    pub entry: EntryId,
    /// The entry.
    pub details: EntryDetails,
    /// The state of the entry's agent.
    pub agent: Option<AgentWakeStatus>,
    /// The agent's sends to the entry's chat since then.
    pub sends: Vec<PastSend>,
}

/// Returns the outcome of an event, found by its entry id, or by the platform's key if the gate refused it.
pub async fn explain(
    records: &dyn Records,
    scope: TenantScope,
    event: &str,
) -> Result<Explanation, StoreError> {
    if let Ok(entry) = event.parse::<EntryId>()
        && let Some(entry) = explain_entry(records, scope, entry).await?
    {
        return Ok(Explanation::Entry(Box::new(entry)));
    }
    let refusals = records.read_refusals(scope, event).await?;
    let known = !refusals.is_empty();
    Ok(if known { Explanation::Refused(refusals) } else { Explanation::Unknown })
}

async fn explain_entry(
    records: &dyn Records,
    scope: TenantScope,
    entry: EntryId,
) -> Result<Option<EntryExplanation>, StoreError> {
    let EntryId { agent, incarnation, seq } = entry;
    let shown = records.show_entry(scope, agent, seq).await?;
    let is_meant = |shown: &EntryDetails| shown.summary.incarnation == incarnation;
    let Some(shown) = shown.filter(is_meant) else { return Ok(None) };
    let place = SendPlace { bot: shown.summary.bot, chat_id: &shown.summary.chat_id };
    let said = records.read_past_sends(scope, agent, place, shown.summary.at).await?;
    let status = records.status(scope, Some(agent), "").await?.pop();
    Ok(Some(EntryExplanation { entry, details: shown, agent: status, sends: said }))
}

impl Explanation {
    /// Returns the explanation as JSON.
    pub fn to_json(&self) -> Value {
        match self {
            Self::Entry(entry) => entry.to_json(),
            Self::Refused(refusals) => json!({
                "outcome": "refused",
                "refusals": refusals.iter().map(refusal_json).collect::<Vec<_>>(),
            }),
            Self::Unknown => json!({ "outcome": "unknown" }),
        }
    }
}

fn refusal_json(kept: &StoredRefusal) -> Value {
    let StoredRefusal { at, note } = kept;
    json!({
        "at": format_time(*at),
        "bot": note.bot,
        "agent": note.agent,
        "layer": note.refusal.layer().slug(),
        "reason": note.refusal.slug(),
        "text": note.refusal.to_string(),
    })
}

impl EntryExplanation {
    fn to_json(&self) -> Value {
        let Self { entry, details: shown, agent, sends: said } = self;
        let state = match shown.state {
            EntryStatus::Waiting { tries } => json!({ "is": "waiting", "tries": tries }),
            EntryStatus::Acked { times } => json!({
                "is": "acked",
                "handed_at": times.map(|(handed, _)| format_time(handed)),
                "acked_at": times.map(|(_, acked)| format_time(acked)),
            }),
            EntryStatus::Parked(parked) => json!({
                "is": "parked", "reason": parked.reason.slug(), "at": format_time(parked.at),
                "resubmitted_as": parked.resubmitted_as,
            }),
        };
        json!({
            "outcome": "held",
            "entry": entry.to_string(),
            "bot": shown.summary.bot,
            "chat": shown.summary.chat_id,
            "held_at": format_time(shown.summary.at),
            "state": state,
            "agent": agent.as_ref().map(status_json),
            "answers": said.iter().map(send_json).collect::<Vec<_>>(),
        })
    }
}

fn status_json(status: &AgentWakeStatus) -> Value {
    let wake = status.wake.as_ref();
    json!({
        "name": status.name,
        "line_since": status.line_since.map(format_time),
        "transport": status.transport.map(Transport::slug),
        "awake_because": status.awake_because(),
        "client_rules": status.rules.slug(),
        "waiting": status.waiting,
        "wake": wake.map(|wake| json!({
            "state": wake.state,
            "since": format_time(wake.since),
            "calls": wake.calls,
            "called_at": wake.called_at.map(format_time),
            "outcome": wake.outcome,
        })),
    })
}

/// Returns the outcome of a send, in words.
pub fn describe_send(send: &PastSend) -> String {
    match &send.result {
        None => "under way".to_owned(),
        Some(SendResult::Delivered(_) | SendResult::InParts(_)) => "delivered".to_owned(),
        Some(SendResult::Failed(why)) => format!("failed: {why}"),
        Some(SendResult::Ambiguous) => "ambiguous: it may have been delivered".to_owned(),
    }
}

fn send_json(send: &PastSend) -> Value {
    let (request, asked_at) = (send.request.as_str(), format_time(send.asked_at));
    json!({ "request": request, "asked_at": asked_at, "came": describe_send(send) })
}

/// Returns the gate's decision about an event as JSON: for each agent considered, whether it receives the event, and
/// the client rules that it is served by.
pub async fn decision_json(
    records: &dyn Records,
    decision: &Decision,
) -> Result<Value, StoreError> {
    let mut verdicts = Vec::new();
    for one in &decision.verdicts {
        let Recipient { scope, agent, .. } = one.recipient;
        let status = records.status(scope, Some(agent), "").await?.pop();
        let mut shown = verdict_json(one);
        shown["client_rules"] = status.map(|status| status.rules.slug()).into();
        verdicts.push(shown);
    }
    let nobody = decision.recipients().err();
    Ok(json!({
        "delivered": nobody.is_none(),
        "refusal": nobody.map(|refused| reason_json(refused.refusal)),
        "agents": verdicts,
    }))
}

/// Returns the rule by which an agent is reached, in words.
pub const fn describe_ground(ground: Ground) -> &'static str {
    match ground {
        Ground::Binding => "the author is linked to the agent",
        Ground::Grant(GrantExtent::Chat) => "the chat is granted to the agent",
        Ground::Grant(GrantExtent::Parent) => "the channel of the thread is granted to the agent",
        Ground::Grant(GrantExtent::Scope) => "the scope is granted to the agent",
        Ground::Grant(GrantExtent::Bot) => "every chat of the bot is granted to the agent",
    }
}

fn verdict_json(verdict: &Verdict) -> Value {
    json!({
        "agent": verdict.recipient.agent,
        "tenant": verdict.recipient.scope.tenant(),
        "ground": describe_ground(verdict.ground),
        "receives": verdict.refusal.is_none(),
        "refusal": verdict.refusal.map(reason_json),
    })
}

fn reason_json(refusal: Refusal) -> Value {
    json!({
        "layer": refusal.layer().slug(), "reason": refusal.slug(), "text": refusal.to_string()
    })
}

fn format_time(at: Timestamp) -> String {
    at.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}
