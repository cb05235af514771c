//! Conversion of the rows of letters.

use jiff_sqlx::Timestamp;
use nightdesk_letters::decide::InboxCapacity;
use nightdesk_letters::{Letter, LetterState, Route};
use nightdesk_protocol::delivery::PayloadKind;
use nightdesk_types::{AgentId, LetterId, Seq};
use uuid::Uuid;

use crate::bodies::SealedBody;
use crate::row::bad_column;

pub(super) struct LetterRow {
    pub(super) letter_id: Uuid,
    pub(super) agent_id: Uuid,
    pub(super) to_agent_id: Uuid,
    pub(super) dispatch_id: String,
    pub(super) route: String,
    pub(super) kind: String,
    pub(super) session: Option<String>,
    pub(super) correlation_id: Option<String>,
    pub(super) hop: i32,
    pub(super) state: String,
    pub(super) seq: Option<i64>,
    pub(super) is_acked: bool,
    pub(super) sent_at: Timestamp,
    pub(super) due_at: Option<Timestamp>,
    pub(super) reply_by: Option<Timestamp>,
    pub(super) reply: Option<Vec<u8>>,
    pub(super) reply_key_id: Option<i64>,
    pub(super) reply_body_id: Option<Uuid>,
    pub(super) replied_at: Option<Timestamp>,
}

/// A letter whose reply is still sealed.
pub(super) struct SealedLetter {
    /// The letter, without its reply.
    pub(super) letter: Letter,
    /// The sealed reply and its time.
    pub(super) reply: Option<(SealedBody, nightdesk_types::Timestamp)>,
}

impl LetterRow {
    pub(super) fn letter(self) -> sqlx::Result<SealedLetter> {
        let sealed = self.reply.zip(self.reply_key_id).zip(self.reply_body_id);
        let sealed = sealed.map(|((bytes, key), id)| SealedBody::from_row(key, id, bytes));
        let reply = sealed.zip(self.replied_at.map(Timestamp::to_jiff));
        let letter = Letter {
            id: LetterId::from_uuid(self.letter_id),
            from: AgentId::from_uuid(self.agent_id),
            to: AgentId::from_uuid(self.to_agent_id),
            dispatch_id: self.dispatch_id,
            route: Route::from_slug(&self.route).ok_or_else(|| bad_column("letters", "route"))?,
            kind: PayloadKind::from_slug(&self.kind)
                .ok_or_else(|| bad_column("letters", "kind"))?,
            session: self.session,
            correlation_id: self.correlation_id,
            hop: self.hop.unsigned_abs(),
            state: LetterState::from_slug(&self.state)
                .ok_or_else(|| bad_column("letters", "state"))?,
            seq: self.seq.map(Seq::new),
            is_acked: self.is_acked,
            sent_at: self.sent_at.to_jiff(),
            due_at: self.due_at.map(Timestamp::to_jiff),
            reply_by: self.reply_by.map(Timestamp::to_jiff),
            reply: None,
        };
        Ok(SealedLetter { letter, reply })
    }
}

/// The entries that wait in an inbox and its quota. All are null if there is no such inbox.
pub(super) struct CapacityRow {
    pub(super) entries: Option<i64>,
    pub(super) entries_max: Option<i64>,
    pub(super) bytes: Option<i64>,
    pub(super) bytes_max: Option<i64>,
}

impl CapacityRow {
    pub(super) fn capacity(&self) -> Option<InboxCapacity> {
        Some(InboxCapacity {
            entries: self.entries?,
            entries_max: self.entries_max?,
            bytes: self.bytes?,
            bytes_max: self.bytes_max?,
        })
    }
}
