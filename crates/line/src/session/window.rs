//! The window of delivered and unacknowledged entries.

use std::collections::VecDeque;
use std::time::Duration;

use nightdesk_inbox::{AckRange, Entry};
use nightdesk_protocol::event::EntryKind;
use nightdesk_types::limits::{SUSPECT_ACK, WINDOW_BYTES_MAX, WINDOW_ENTRIES_MAX};
use nightdesk_types::{EntryId, Incarnation, Moment, Seq, Timestamp};

use super::SessionTime;

/// An entry in flight.
#[derive(Debug)]
struct WindowEntry {
    seq: Seq,
    incarnation: Incarnation,
    /// The first number that this entry's ack settles: numbers before it without an entry were parked.
    from: Seq,
    at: Timestamp,
    kind: EntryKind,
    chat_id: String,
    bytes: usize,
    said_at: Moment,
    handed_at: Timestamp,
    /// Later frames that are not entries.
    frames_since: usize,
}

impl WindowEntry {
    fn ack_range(&self) -> AckRange {
        AckRange { from: self.from, to: self.seq, at: self.at, handed_at: self.handed_at }
    }
}

/// The delivered and unacknowledged entries, in order.
#[derive(Debug)]
pub(super) struct DeliveryWindow {
    held: VecDeque<WindowEntry>,
    bytes: usize,
    /// The last number that was read, delivered or not.
    read: Seq,
    /// True if the client acks passthroughs. Then no ack is implied for them.
    acks_passthroughs: bool,
    /// The time when an entry was last settled. A client that handles frames in order reached the next one then.
    settled_at: Moment,
}

impl DeliveryWindow {
    pub(super) const fn starting_after(read: Seq) -> Self {
        Self {
            held: VecDeque::new(),
            bytes: 0,
            read,
            acks_passthroughs: false,
            settled_at: Moment::after_start(Duration::ZERO),
        }
    }

    /// Expects an ack of each passthrough from the beginning, before the client has sent one.
    pub(super) const fn expect_passthrough_acks(&mut self) {
        self.acks_passthroughs = true;
    }

    pub(super) const fn last_read(&self) -> Seq {
        self.read
    }

    pub(super) fn len(&self) -> usize {
        self.held.len()
    }

    /// Returns the number of entries that still fit. An empty window always takes one.
    pub(super) fn free_entries(&self) -> usize {
        if self.bytes >= WINDOW_BYTES_MAX { 0 } else { WINDOW_ENTRIES_MAX - self.held.len() }
    }

    /// Counts a frame that is not an entry.
    pub(super) fn count_other_frame(&mut self) {
        for held in &mut self.held {
            held.frames_since += 1;
        }
    }

    /// Returns the number of frames that a client may not have read yet if it handles them strictly in order: the
    /// oldest entry that it will ack, and all later frames.
    pub(super) fn unread_frames(&self) -> usize {
        let acked_later = |held: &WindowEntry| held.kind != EntryKind::Passthrough;
        let Some(oldest) = self.held.iter().position(acked_later) else { return 0 };
        self.held.len() - oldest + self.held[oldest].frames_since
    }

    /// Marks every number up to here as read without an entry.
    pub(super) fn skip_to(&mut self, seq: Seq) {
        self.read = self.read.max(seq);
    }

    /// Adds an entry that is being delivered.
    pub(super) fn add_entry(
        &mut self,
        entry: &Entry,
        kind: EntryKind,
        bytes: usize,
        now: SessionTime,
    ) {
        self.held.push_back(WindowEntry {
            seq: entry.seq,
            incarnation: entry.incarnation,
            from: self.read.next(),
            at: entry.at,
            kind,
            chat_id: entry.chat_id.clone(),
            bytes,
            said_at: now.moment,
            handed_at: now.wall,
            frames_since: 0,
        });
        self.bytes += bytes;
        self.read = entry.seq;
    }

    /// Settles an acked entry. If the client does not ack passthroughs, also settles those before it, because the
    /// client handles frames strictly in order. An ack of an entry that is not held changes nothing.
    pub(super) fn settle_acked(&mut self, entry: EntryId, now: Moment) -> Vec<AckRange> {
        let EntryId { seq, incarnation, agent: _ } = entry;
        let is_acked = |held: &WindowEntry| held.seq == seq && held.incarnation == incarnation;
        let Some(index) = self.held.iter().position(is_acked) else {
            return Vec::new();
        };
        if self.held[index].kind == EntryKind::Passthrough {
            self.acks_passthroughs = true;
        }
        let implied = !self.acks_passthroughs;
        self.settle(now, |held| {
            held.seq == seq || (implied && held.seq < seq && held.kind == EntryKind::Passthrough)
        })
    }

    /// Settles the passthroughs of a chat: a send to it proves that the client handled them.
    pub(super) fn settle_chat(&mut self, chat_id: &str, now: Moment) -> Vec<AckRange> {
        self.settle_passthroughs(now, |held| held.chat_id == chat_id)
    }

    /// Settles old passthroughs: a line that answers pings has handled them after this time.
    pub(super) fn settle_old_passthroughs(&mut self, now: Moment) -> Vec<AckRange> {
        self.settle_passthroughs(now, |held| now.since(held.said_at) >= SUSPECT_ACK)
    }

    fn settle_passthroughs(
        &mut self,
        now: Moment,
        handled: impl Fn(&WindowEntry) -> bool,
    ) -> Vec<AckRange> {
        if self.acks_passthroughs {
            return Vec::new();
        }
        self.settle(now, |held| held.kind == EntryKind::Passthrough && handled(held))
    }

    fn settle(&mut self, now: Moment, done: impl Fn(&WindowEntry) -> bool) -> Vec<AckRange> {
        let ranges: Vec<AckRange> =
            self.held.iter().filter(|held| done(held)).map(WindowEntry::ack_range).collect();
        if !ranges.is_empty() {
            self.held.retain(|held| !done(held));
            self.settled_at = now;
            self.bytes = self.held.iter().map(|held| held.bytes).sum();
        }
        ranges
    }

    /// Settles the newest entry, for a client that never acks: a sent entry counts as acked.
    pub(super) fn settle_newest(&mut self) -> Option<AckRange> {
        let newest = self.held.pop_back()?;
        self.bytes -= newest.bytes;
        Some(newest.ack_range())
    }

    /// Returns the oldest entry and the time since when the client could handle it.
    pub(super) fn head(&self) -> Option<(Seq, Moment)> {
        self.held.front().map(|held| (held.seq, held.said_at.max(self.settled_at)))
    }
}
