//! Returns the operator's view of an inbox.

use nightdesk_inbox::{EntryDetails, EntryStatus, EntrySummary, InboxOverview, ParkRecord};
use nightdesk_types::limits::LIST_ROWS_MAX;
use nightdesk_types::{Seq, Timestamp};

use super::{Agent, Aside, Held};

impl Agent {
    /// Returns the waiting and parked entries after this number.
    pub(in super::super) fn overview(&self, after: Seq) -> InboxOverview {
        let rows_max = usize::try_from(LIST_ROWS_MAX).unwrap_or(0);
        let waits = |(seq, _): &(&Seq, &Held)| self.cursor.is_before(**seq);
        let waiting = self.entries.range(after.next()..).filter(waits).take(rows_max);
        let parked = self.parked.range(after.next()..).take(rows_max);
        InboxOverview {
            head: self.head,
            acked: self.cursor.acked,
            waiting: waiting.map(|(seq, held)| held.listed(*seq)).collect(),
            parked: parked.map(|(seq, aside)| (aside.held.listed(*seq), aside.parked())).collect(),
        }
    }

    /// Returns one entry with its whole state.
    pub(in super::super) fn show(&self, seq: Seq) -> Option<EntryDetails> {
        let aside = self.parked.get(&seq);
        let held = aside.map(|aside| &aside.held).or_else(|| self.entries.get(&seq))?;
        let state =
            aside.map_or_else(|| self.state(seq), |aside| EntryStatus::Parked(aside.parked()));
        let mut parked = self.parked.iter();
        let origin = parked.find(|(_, aside)| aside.resubmitted_as == Some(seq));
        Some(EntryDetails {
            summary: held.listed(seq),
            state,
            origin: origin.map(|(seq, _)| *seq),
            body: held.body.to_vec(),
        })
    }

    /// Returns the waiting entries up to a bound, and the time at which the oldest was accepted.
    pub(in super::super) fn glance(&self, most: usize) -> (i64, Option<Timestamp>) {
        let waiting = self.waits().take(most).count();
        let oldest_at = self.waits().map(|held| held.at).min();
        (i64::try_from(waiting).unwrap_or(i64::MAX), oldest_at)
    }

    /// Returns the parked entries that were not resubmitted.
    pub(in super::super) fn stuck(&self) -> impl Iterator<Item = (EntrySummary, ParkRecord)> {
        let stuck = self.parked.iter().filter(|(_, aside)| aside.resubmitted_as.is_none());
        stuck.map(|(seq, aside)| (aside.held.listed(*seq), aside.parked()))
    }

    /// Removes a parked entry. Returns true if it was there.
    pub(in super::super) fn drop_parked(&mut self, seq: Seq) -> bool {
        let stuck = self.parked.get(&seq).is_some_and(|aside| aside.resubmitted_as.is_none());
        stuck && self.parked.remove(&seq).is_some()
    }

    fn state(&self, seq: Seq) -> EntryStatus {
        if self.cursor.is_before(seq) {
            let tried = self.cursor.tried == Some(seq);
            return EntryStatus::Waiting { tries: if tried { self.cursor.tries } else { 0 } };
        }
        let ack = self.acks.iter().find(|(range, _)| (range.from..=range.to).contains(&seq));
        EntryStatus::Acked { times: ack.map(|(range, at)| (range.handed_at, *at)) }
    }
}

impl Held {
    fn listed(&self, seq: Seq) -> EntrySummary {
        let (chat_id, body_bytes) = (self.chat_id.clone(), self.body.len());
        EntrySummary {
            seq,
            incarnation: self.incarnation,
            at: self.at,
            bot: self.bot,
            chat_id,
            body_bytes,
        }
    }
}

impl Aside {
    const fn parked(&self) -> ParkRecord {
        let Self { reason, parked_at, resubmitted_as, held: _ } = self;
        ParkRecord { reason: *reason, at: *parked_at, resubmitted_as: *resubmitted_as }
    }
}
