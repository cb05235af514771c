//! Handles the events of a source in order and stores its cursor.

use std::collections::VecDeque;
use std::time::Instant;

use nightdesk_inbox::{Inbox, SourceCursor};
use nightdesk_intake::SourceEvent;
use nightdesk_port::Listen;
use nightdesk_register::Gap;
use nightdesk_types::limits::SOURCE_TOGETHER_MAX;
use nightdesk_types::{NodeEpoch, StoreError, Timestamp};

use super::{ListenFailure, Listening, NodeListener};
use crate::Account;
use crate::inbound::EventOrigin;
use crate::quarantine::quarantine;

/// The prefix of a stored cursor while a gap before it is open. It preserves the platform's session and the knowledge
/// of the gap if the process dies meanwhile.
const OWED: &str = "gap ";

/// A source that this node reads, with its cursor.
pub(super) struct SourceReader {
    name: &'static str,
    epoch: NodeEpoch,
    pub(super) cursor: Option<String>,
    /// The gap before the cursor, if it is still open.
    open_gap: Option<OpenGap>,
}

/// A gap that must be filled before the source continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct OpenGap {
    /// The start of the gap as first recorded, because events may have arrived since.
    since: Option<Timestamp>,
}

impl OpenGap {
    fn encode(self, cursor: &str) -> String {
        self.since
            .map_or_else(|| format!("{OWED}{cursor}"), |since| format!("{OWED}{since} {cursor}"))
    }

    /// Splits a stored cursor into the open gap, if any, and the cursor itself.
    fn decode(stored: String) -> (Option<Self>, String) {
        let Some(owed) = stored.strip_prefix(OWED) else { return (None, stored) };
        let parts =
            owed.split_once(' ').and_then(|(since, cursor)| Some((since.parse().ok()?, cursor)));
        let (since, cursor) = parts.map_or((None, owed), |(since, cursor)| (Some(since), cursor));
        (Some(Self { since }), cursor.to_owned())
    }

    /// Returns the gap with the recorded start and the currently known chats.
    fn with_recorded_start(self, Gap { since, chats }: Gap) -> Gap {
        Gap { since: self.since.or(since), chats }
    }
}

impl SourceReader {
    pub(super) async fn take(
        inbox: &Inbox,
        account: &Account,
        name: &'static str,
    ) -> Result<Self, StoreError> {
        let (operator, bot) = (account.bot.operator, account.bot.id);
        let (epoch, stored) = inbox.store().take_source(operator, bot, name).await?;
        let (owed, cursor) = stored.map(OpenGap::decode).unzip();
        Ok(Self { name, epoch, cursor, open_gap: owed.flatten() })
    }

    fn cursor_at(&self, cursor: String) -> SourceCursor {
        SourceCursor { source: self.name.to_owned(), epoch: self.epoch, cursor }
    }

    /// Handles events in order. Returns false if another node owns the source or this node stops; the next reader then
    /// gets the rest.
    pub(super) async fn handle_events(
        &mut self,
        listener: &NodeListener,
        account: &Account,
        ear: &dyn Listen,
        told: Vec<SourceEvent>,
        is_last_try: bool,
    ) -> Result<bool, ListenFailure> {
        let inbox = &*listener.context.inbox;
        if let Some(owed) = self.open_gap {
            let gap = owed.with_recorded_start(listener.record_gap(account).await?);
            let is_filled = listener.fill_gap(account, ear, gap, is_last_try).await?;
            if !is_filled || !self.record_filled_gap(inbox, account).await? {
                return Ok(false);
            }
            self.open_gap = None;
        }
        let mut rest = VecDeque::from(told);
        while !rest.is_empty() && !listener.drain.is_cancelled() {
            let run = next_batch(&mut rest);
            if let Some(first) = run.first().filter(|first| first.is_after_gap) {
                let gap = listener.record_gap(account).await?;
                let is_ours = self.record_open_gap(inbox, account, first, gap.since).await?;
                if !is_ours || !listener.fill_gap(account, ear, gap, is_last_try).await? {
                    return Ok(false);
                }
            }
            if !self.store_batch(listener, account, run).await? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Records an open gap and the cursor after it, if the first event after the gap needs no storage itself. Returns
    /// true if this node still owns the source.
    async fn record_open_gap(
        &self,
        inbox: &Inbox,
        account: &Account,
        first: &SourceEvent,
        since: Option<Timestamp>,
    ) -> Result<bool, StoreError> {
        if !matches!(first.event, Ok(None)) {
            return Ok(true);
        }
        let owed = self.cursor_at(OpenGap { since }.encode(&first.cursor));
        self.move_cursor(inbox, account, &owed).await
    }

    /// Records that the gap before the cursor is filled.
    async fn record_filled_gap(
        &self,
        inbox: &Inbox,
        account: &Account,
    ) -> Result<bool, StoreError> {
        let Some(cursor) = self.cursor.clone() else { return Ok(true) };
        self.move_cursor(inbox, account, &self.cursor_at(cursor)).await
    }

    /// Stores a batch. Afterwards the cursor is unchanged, after the stored part, or after the whole batch.
    async fn store_batch(
        &mut self,
        NodeListener { context, drain, .. }: &NodeListener,
        account: &Account,
        run: Vec<SourceEvent>,
    ) -> Result<bool, StoreError> {
        let (Listening { inbound, inbox, .. }, began) = (&**context, Instant::now());
        let (mut admitted, mut last, mut is_stored) = (Vec::new(), None, false);
        for SourceEvent { event: said, body, cursor, .. } in run {
            if drain.is_cancelled() {
                break;
            }
            let mark = self.cursor_at(cursor);
            last = Some(mark.clone());
            let admission = match said {
                Ok(Some(event)) => {
                    let origin = EventOrigin::Source(mark);
                    inbound.admissions.admit(account, event, origin).await?.ok()
                }
                Ok(None) => None,
                Err(unreadable) => {
                    quarantine(inbox, unreadable, &body).await?;
                    None
                }
            };
            is_stored = admission.is_some();
            admitted.extend(admission);
        }
        if inbound.place(account, admitted, began).await?.is_fenced {
            return Ok(false);
        }
        let Some(mark) = last else { return Ok(true) };
        // If the last event was refused, empty or unreadable, its cursor is not stored yet.
        let is_ours = is_stored || self.move_cursor(inbox, account, &mark).await?;
        self.cursor = Some(mark.cursor);
        Ok(is_ours)
    }

    async fn move_cursor(
        &self,
        inbox: &Inbox,
        account: &Account,
        mark: &SourceCursor,
    ) -> Result<bool, StoreError> {
        let (operator, bot) = (account.bot.operator, account.bot.id);
        inbox.store().move_cursor(operator, bot, mark).await
    }
}

/// Returns the next batch. An event after a gap starts a new batch, so that the gap is filled first.
fn next_batch(rest: &mut VecDeque<SourceEvent>) -> Vec<SourceEvent> {
    let goes_on = |told: &&SourceEvent| !told.is_after_gap;
    let more = rest.iter().skip(1).take(SOURCE_TOGETHER_MAX - 1).take_while(goes_on).count();
    rest.drain(..rest.len().min(1 + more)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_owed_is_read_as_it_was_written() {
        let since: Timestamp = "2026-05-01T12:00:00.25Z".parse().expect("a time");
        for (since, cursor) in [(Some(since), "a b"), (None, "a"), (None, r#"{"seq": 1}"#)] {
            let owed = OpenGap { since };
            assert_eq!(OpenGap::decode(owed.encode(cursor)), (Some(owed), cursor.to_owned()));
        }
        assert_eq!(OpenGap::decode("a b".to_owned()), (None, "a b".to_owned()));
    }

    #[test]
    fn what_was_noted_first_counts() {
        let [early, late] = ["2026-05-01T12:00:00Z", "2026-05-01T13:00:00Z"]
            .map(|text| Some(text.parse::<Timestamp>().expect("a time")));
        let since = |noted, known| {
            OpenGap { since: noted }.with_recorded_start(Gap { since: known, chats: vec![] }).since
        };
        assert_eq!(since(early, late), early);
        assert_eq!(since(None, late), late);
    }
}
