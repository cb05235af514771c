//! Entries of inboxes.

use nightdesk_inbox::{EntryDetails, EntryStatus, EntrySummary, ParkRecord};
use nightdesk_types::limits::SWEEP_EVERY;
use nightdesk_types::{AgentId, BotId, Seq, TenantScope};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::error::OfficeError;
use crate::office::Office;
use crate::times::seconds;

/// An inbox: its waiting and parked entries, without their content.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct InboxView {
    /// The last assigned number.
    pub head: i64,
    /// The number up to which every entry is acknowledged or parked.
    pub acked: i64,
    /// A page of the waiting entries, in order.
    pub waiting: Vec<EntryView>,
    /// A page of the parked entries, in order.
    pub parked: Vec<EntryView>,
}

/// An entry, without its content.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct EntryView {
    /// Its number.
    pub seq: i64,
    /// The time at which it was accepted.
    pub at: String,
    /// The bot that received it.
    #[schema(value_type = String)]
    pub bot_id: BotId,
    /// The chat that it came from.
    pub chat_id: String,
    /// The length of its content.
    pub body_bytes: usize,
    /// The reason for which it is parked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'static str>,
    /// The time at which it was parked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parked_at: Option<String>,
    /// The number of the entry as which it was resubmitted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resubmitted_as: Option<i64>,
}

/// An entry that was put into its inbox again.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ResubmittedEntry {
    /// Its new number.
    pub seq: i64,
    /// Its former number.
    pub resubmitted_from: i64,
    /// The time within which an open line gets it.
    pub handed_over_within_secs: u64,
}

/// An entry that was parked.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ParkedEntry {
    /// Its number.
    pub seq: i64,
    /// True.
    pub parked: bool,
}

impl Office {
    /// Returns the waiting and parked entries of an agent after this number.
    pub async fn inbox(
        &self,
        scope: TenantScope,
        agent: AgentId,
        after: Seq,
    ) -> Result<InboxView, OfficeError> {
        let overview = self.store.overview(scope, agent, after).await?;
        let overview =
            overview.ok_or_else(|| OfficeError::NotFound("the agent has no inbox".to_owned()))?;
        let parked = overview.parked.iter().map(|(entry, record)| entry_view(entry, Some(record)));
        Ok(InboxView {
            head: overview.head.get(),
            acked: overview.acked.get(),
            waiting: overview.waiting.iter().map(|entry| entry_view(entry, None)).collect(),
            parked: parked.collect(),
        })
    }

    /// Returns one entry with its state and its source; with its content only for a caller that may read messages.
    pub async fn entry(
        &self,
        scope: TenantScope,
        agent: AgentId,
        seq: Seq,
        content: TextAccess,
    ) -> Result<Value, OfficeError> {
        let details = self.store.show_entry(scope, agent, seq).await?;
        let details = details.ok_or_else(|| unknown_entry(seq))?;
        Ok(entry_json(&details, content))
    }

    /// Puts a parked entry into its inbox again, under a new number.
    pub async fn resubmit_entry(
        &self,
        scope: TenantScope,
        agent: AgentId,
        seq: Seq,
    ) -> Result<ResubmittedEntry, OfficeError> {
        let again = self.desk.resubmit_entry(scope, agent, seq).await?.ok_or_else(|| {
            OfficeError::Conflict(format!(
                "entry {seq} is not parked, or was resubmitted already; `nightdesk inbox show` shows its state"
            ))
        })?;
        Ok(ResubmittedEntry {
            seq: again.get(),
            resubmitted_from: seq.get(),
            handed_over_within_secs: SWEEP_EVERY.as_secs(),
        })
    }

    /// Parks a waiting entry, so that the entries behind it get through.
    pub async fn park_entry(
        &self,
        scope: TenantScope,
        agent: AgentId,
        seq: Seq,
    ) -> Result<ParkedEntry, OfficeError> {
        if self.store.park_waiting(scope, agent, seq).await? {
            return Ok(ParkedEntry { seq: seq.get(), parked: true });
        }
        Err(OfficeError::Conflict(format!(
            "entry {seq} does not wait; `nightdesk inbox list` shows waiting ones"
        )))
    }
}

/// The part of an entry that a caller sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextAccess {
    /// Its source and its state.
    Hidden,
    /// Also the message.
    Shown,
}

pub(crate) fn unknown_entry(seq: Seq) -> OfficeError {
    OfficeError::NotFound(format!(
        "there is no entry {seq}: the number was never used, or the entry was acknowledged and deleted; \
         `nightdesk inbox list` shows all entries"
    ))
}

fn entry_view(entry: &EntrySummary, parked: Option<&ParkRecord>) -> EntryView {
    EntryView {
        seq: entry.seq.get(),
        at: seconds(entry.at),
        bot_id: entry.bot,
        chat_id: entry.chat_id.clone(),
        body_bytes: entry.body_bytes,
        reason: parked.map(|record| record.reason.slug()),
        parked_at: parked.map(|record| seconds(record.at)),
        resubmitted_as: parked.and_then(|record| record.resubmitted_as).map(Seq::get),
    }
}

fn entry_json(details: &EntryDetails, content: TextAccess) -> Value {
    let parked = match &details.state {
        EntryStatus::Parked(record) => Some(record),
        EntryStatus::Waiting { .. } | EntryStatus::Acked { .. } => None,
    };
    let mut all = serde_json::to_value(entry_view(&details.summary, parked)).unwrap_or_default();
    let body: Value = serde_json::from_slice(&details.body).unwrap_or_default();
    // The source of a passthrough is in `forward`, that of a message in `event`.
    let source = [&body["event"]["source"], &body["forward"]["source"]];
    all["kind"] = body["type"].clone();
    all["source"] = source.into_iter().find(|source| source.is_object()).cloned().into();
    all["resubmitted_from"] = details.origin.map(Seq::get).into();
    match details.state {
        EntryStatus::Waiting { tries } => {
            all["state"] = "waiting".into();
            all["tries"] = tries.into();
        }
        EntryStatus::Acked { times } => {
            all["state"] = "acked".into();
            all["handed_at"] = times.map(|(handed, _)| seconds(handed)).into();
            all["acked_at"] = times.map(|(_, acked)| seconds(acked)).into();
        }
        EntryStatus::Parked(_) => all["state"] = "parked".into(),
    }
    if content == TextAccess::Shown {
        all["body"] = body;
    }
    all
}
