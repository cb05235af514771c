//! Events that reached no agent: parked, refused and unreadable ones, by reason, and actions on many parked entries.

use nightdesk_gate::Refusal;
use nightdesk_inbox::ParkReason;
use nightdesk_types::limits::BULK_ENTRIES_MAX;
use nightdesk_types::{AgentId, BotId, Seq, TenantScope};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::error::OfficeError;
use crate::office::Office;
use crate::reads::{
    BoundedCount, ParkedGroup, ParkedKey, ParkedRow, QuarantineGroup, RefusalGroup,
};
use crate::timeline::{park_advice, park_text};
use crate::times::seconds;

/// The events of a tenant that reached no agent, by reason.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct StuckView {
    /// Parked entries.
    pub parked: Vec<ParkedGroupView>,
    /// Events that the gate refused lately.
    pub refused: Vec<RefusalGroupView>,
    /// Events that could not be read lately.
    pub unreadable: Vec<QuarantineGroupView>,
}

/// Parked entries with one reason.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ParkedGroupView {
    /// The reason.
    pub reason: &'static str,
    /// The reason, in words.
    pub text: &'static str,
    /// The next step.
    pub advice: &'static str,
    /// Their number.
    pub count: BoundedCount,
    /// The newest one.
    pub newest: ParkedRowView,
}

impl From<ParkedGroup> for ParkedGroupView {
    fn from(group: ParkedGroup) -> Self {
        let ParkedGroup { reason, count, newest } = group;
        let (text, advice) = (park_text(reason), park_advice(reason));
        Self { reason: reason.slug(), text, advice, count, newest: newest.into() }
    }
}

/// A parked entry, without its content.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ParkedRowView {
    /// The agent's name.
    pub agent: String,
    /// The agent.
    #[schema(value_type = String)]
    pub agent_id: AgentId,
    /// Its number.
    pub seq: i64,
    /// The time at which it was accepted.
    pub at: String,
    /// The time at which it was parked.
    pub parked_at: String,
    /// The bot that received it.
    #[schema(value_type = String)]
    pub bot_id: BotId,
    /// The chat that it came from.
    pub chat_id: String,
    /// The position of the entry in the list, for the next page.
    pub key: String,
}

impl From<ParkedRow> for ParkedRowView {
    fn from(row: ParkedRow) -> Self {
        let ParkedRow { key, agent_name, at, bot, chat_id } = row;
        let ParkedKey { parked_at, agent, seq } = key;
        Self {
            agent: agent_name,
            agent_id: agent,
            seq: seq.get(),
            at: seconds(at),
            parked_at: seconds(parked_at),
            bot_id: bot,
            chat_id,
            key: format!("{parked_at}/{agent}/{seq}"),
        }
    }
}

/// Refused events with one reason.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct RefusalGroupView {
    /// The reason.
    pub reason: &'static str,
    /// The reason, in words.
    pub text: String,
    /// The next step.
    pub advice: &'static str,
    /// Their number.
    pub count: u64,
    /// The time of the newest one.
    pub newest_at: String,
    /// The platform's key of the newest one, for its explanation.
    pub event_key: String,
    /// The bot that received it.
    #[schema(value_type = String)]
    pub bot_id: BotId,
    /// The agent that came closest to being reached.
    #[schema(value_type = Option<String>)]
    pub agent_id: Option<AgentId>,
}

impl From<RefusalGroup> for RefusalGroupView {
    fn from(group: RefusalGroup) -> Self {
        let RefusalGroup { refusal, count, newest } = group;
        Self {
            reason: refusal.slug(),
            text: refusal.to_string(),
            advice: refusal_advice(refusal),
            count,
            newest_at: seconds(newest.at),
            event_key: newest.note.event_key,
            bot_id: newest.note.bot,
            agent_id: newest.note.agent,
        }
    }
}

/// Unreadable events of one bot with one problem.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct QuarantineGroupView {
    /// The bot.
    #[schema(value_type = String)]
    pub bot_id: BotId,
    /// The problem.
    pub problem: String,
    /// Their number.
    pub count: u64,
    /// The time of the newest one.
    pub newest_at: String,
}

impl From<QuarantineGroup> for QuarantineGroupView {
    fn from(group: QuarantineGroup) -> Self {
        let QuarantineGroup { bot, problem, count, newest_at } = group;
        Self { bot_id: bot, problem, count, newest_at: seconds(newest_at) }
    }
}

/// The confirmation of a removal.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct DropConfirmation {
    /// The number of the entry, or the reason of the entries.
    pub confirm: String,
}

/// The result of an action on many entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct BulkOutcome {
    /// The number of changed entries.
    pub changed: usize,
    /// True if there may be more: repeat the action.
    pub more: bool,
}

/// An action on a parked entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BulkAction {
    Resubmit,
    Drop,
}

impl Office {
    /// Returns the events of a tenant that reached no agent, by reason.
    pub async fn stuck(&self, scope: TenantScope) -> Result<StuckView, OfficeError> {
        let parked = self.store.parked_groups(scope).await?;
        let refused = self.store.refusal_groups(scope).await?;
        let unreadable = self.store.quarantine_groups(scope).await?;
        Ok(StuckView {
            parked: parked.into_iter().map(ParkedGroupView::from).collect(),
            refused: refused.into_iter().map(RefusalGroupView::from).collect(),
            unreadable: unreadable.into_iter().map(QuarantineGroupView::from).collect(),
        })
    }

    /// Returns a page of the parked entries with a reason, oldest first, after the one with this `key`.
    pub async fn parked_entries(
        &self,
        scope: TenantScope,
        reason: &str,
        after: Option<&str>,
    ) -> Result<Vec<ParkedRowView>, OfficeError> {
        let after = after.map(|key| read_parked_key(key).ok_or_else(bad_parked_key));
        let after = after.transpose()?;
        let rows = self.store.parked_rows(scope, read_reason(reason)?, after).await?;
        Ok(rows.into_iter().map(ParkedRowView::from).collect())
    }

    /// Puts parked entries with a reason into their inboxes again, the oldest first.
    pub async fn resubmit_parked(
        &self,
        scope: TenantScope,
        reason: &str,
    ) -> Result<BulkOutcome, OfficeError> {
        self.change_parked(scope, read_reason(reason)?, BulkAction::Resubmit).await
    }

    /// Removes parked entries with a reason for good, the oldest first. The confirmation is the reason.
    pub async fn drop_parked(
        &self,
        scope: TenantScope,
        reason: &str,
        confirmation: &DropConfirmation,
    ) -> Result<BulkOutcome, OfficeError> {
        check_drop(reason, confirmation)?;
        self.change_parked(scope, read_reason(reason)?, BulkAction::Drop).await
    }

    /// Removes a parked entry for good. The confirmation is its number.
    pub async fn drop_entry(
        &self,
        scope: TenantScope,
        agent: AgentId,
        seq: Seq,
        confirmation: &DropConfirmation,
    ) -> Result<(), OfficeError> {
        check_drop(&seq.to_string(), confirmation)?;
        if self.store.drop_parked(scope, agent, seq).await? {
            return Ok(());
        }
        Err(OfficeError::Conflict(format!(
            "entry {seq} is not parked, or was put into the inbox again; `nightdesk inbox show` shows its state"
        )))
    }

    async fn change_parked(
        &self,
        scope: TenantScope,
        reason: ParkReason,
        action: BulkAction,
    ) -> Result<BulkOutcome, OfficeError> {
        let rows = self.store.parked_rows(scope, reason, None).await?;
        let more = rows.len() > BULK_ENTRIES_MAX;
        let mut changed = 0;
        for ParkedRow { key: ParkedKey { agent, seq, .. }, .. } in
            rows.into_iter().take(BULK_ENTRIES_MAX)
        {
            let is_changed = match action {
                BulkAction::Resubmit => {
                    self.desk.resubmit_entry(scope, agent, seq).await?.is_some()
                }
                BulkAction::Drop => self.store.drop_parked(scope, agent, seq).await?,
            };
            changed += usize::from(is_changed);
        }
        Ok(BulkOutcome { changed, more })
    }
}

fn read_reason(reason: &str) -> Result<ParkReason, OfficeError> {
    let known = ParkReason::ALL.into_iter().find(|known| known.slug() == reason);
    known.ok_or_else(|| {
        let known = ParkReason::ALL.map(ParkReason::slug).join(", ");
        OfficeError::NotFound(format!("no entry is parked for {reason}; there are {known}"))
    })
}

/// Reads the `key` of a parked entry.
fn read_parked_key(text: &str) -> Option<ParkedKey> {
    let mut parts = text.splitn(3, '/');
    let (parked_at, agent) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    Some(ParkedKey { parked_at, agent, seq: Seq::new(parts.next()?.parse().ok()?) })
}

fn bad_parked_key() -> OfficeError {
    OfficeError::Invalid("after takes `key` of the last entry of the previous page".to_owned())
}

fn check_drop(wanted: &str, confirmation: &DropConfirmation) -> Result<(), OfficeError> {
    if confirmation.confirm == wanted {
        return Ok(());
    }
    Err(OfficeError::Invalid(format!("a removal cannot be undone; confirm it with {wanted}")))
}

/// Returns the next step after a refusal.
const fn refusal_advice(refusal: Refusal) -> &'static str {
    match refusal {
        Refusal::NoAuthor => "The platform named no author; such events reach no agent.",
        Refusal::UnboundAuthor => {
            "Link the person to an agent, or grant the chat to one, on the page of people and grants."
        }
        Refusal::NotWelcome => "Open the grant of the chat to more people, or link the person.",
        Refusal::NotVisible | Refusal::SightUnknown => {
            "Let a linked person of the agent join the chat, and check that the bot sees the chat's members."
        }
        Refusal::OtherBot | Refusal::NotAddressed => {
            "The agent's policy leaves such messages out; its gateway can declare another one."
        }
        Refusal::NotAsked => "The prompt was another agent's, or is older than seven days.",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_goes_on_after_a_parked_entry() {
        let agent = "00000000-0000-0000-0000-000000000007";
        let key = format!("2026-01-01T00:00:00.5Z/{agent}/12");
        let read = read_parked_key(&key).unwrap();

        assert_eq!((read.agent.to_string().as_str(), read.seq), (agent, Seq::new(12)));
        assert_eq!(format!("{}/{}/{}", read.parked_at, read.agent, read.seq), key);
        for bad in ["", "x", "2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z/x/1"] {
            assert!(read_parked_key(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn a_removal_needs_the_right_word() {
        let confirm = |word: &str| DropConfirmation { confirm: word.to_owned() };

        assert!(check_drop("tries", &confirm("tries")).is_ok());
        assert!(check_drop("tries", &confirm("yes")).is_err());
        assert!(read_reason("tries").is_ok() && read_reason("boredom").is_err());
    }
}
