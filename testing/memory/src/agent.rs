//! Implements an agent's inbox: its entries, its cursor, its parked entries, and its newest line.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use nightdesk_inbox::{AckRange, Entry, ParkReason, ReadRequest, StoppedChat};
use nightdesk_line::ClosingSide;
use nightdesk_protocol::EntryJson;
use nightdesk_protocol::session_names::SessionNames;
use nightdesk_types::limits::{FRAME_OUT_BYTES_MAX, WINDOW_BYTES_MAX};
use nightdesk_types::{
    BotId, ClientRules, GatewayId, Generation, Incarnation, Node, Principal, Relevance, Seq,
    Timestamp, Transport,
};

mod shown;

/// All data of an agent.
pub(super) struct Agent {
    pub(super) name: String,
    pub(super) created_at: Timestamp,
    /// Increases with every change of the agent's access.
    pub(super) reach_version: i64,
    /// Default principal of the agent's grants.
    pub(super) principal: Principal,
    /// Other authors that may reach it, by bot.
    pub(super) listed: BTreeMap<BotId, BTreeSet<String>>,
    /// Relevance rules by platform.
    pub(super) relevance: BTreeMap<String, Relevance>,
    pub(super) client_rules: ClientRules,
    pub(super) display_name: Option<String>,
    /// True if it may stop the turns of its tenant's other agents.
    pub(super) stops_others: bool,
    pub(super) cursor: Cursor,
    pub(super) line: Option<Line>,
    /// Time of the last entry from a chat through a bot.
    pub(super) reached: BTreeMap<(String, BotId), Timestamp>,
    head: Seq,
    last_at: Timestamp,
    /// Acked and parked entries stay until upkeep removes them; the cursor distinguishes them.
    entries: BTreeMap<Seq, Held>,
    parked: BTreeMap<Seq, Aside>,
    /// Acked ranges, with their times.
    acks: Vec<(AckRange, Timestamp)>,
}

/// An entry's row.
#[derive(Clone)]
pub(super) struct Held {
    /// The history in which it was accepted.
    pub(super) incarnation: Incarnation,
    pub(super) at: Timestamp,
    pub(super) bot: BotId,
    pub(super) chat_id: String,
    pub(super) body: Arc<[u8]>,
}

struct Aside {
    held: Held,
    reason: ParkReason,
    parked_at: Timestamp,
    resubmitted_as: Option<Seq>,
}

/// The newest line of an agent.
pub(super) struct Line {
    pub(super) gateway: GatewayId,
    /// The history in which it began.
    pub(super) incarnation: Incarnation,
    pub(super) generation: Generation,
    pub(super) opened_at: Timestamp,
    pub(super) closed_at: Option<Timestamp>,
    pub(super) restarted_at: Option<Timestamp>,
    pub(super) transport: Transport,
    /// The live sessions of its agent, while it is open.
    pub(super) sessions: SessionNames,
    /// Its node, and the life of that node.
    pub(super) node: Node,
    /// Grace period for its client to reconnect after its end.
    pub(super) grace: Duration,
    pub(super) parting: Option<ClosingSide>,
    /// Milliseconds for which this line and the agent's earlier ones were open, as far as they ended.
    pub(super) awake_ms: i64,
}

impl Line {
    /// Counts the time until the end of an open line.
    pub(super) fn count_awake(&mut self, until: Timestamp) {
        self.awake_ms += self.open_ms(until);
    }

    /// Returns the milliseconds for which a line has been open that has not ended.
    pub(super) fn open_ms(&self, until: Timestamp) -> i64 {
        match self.closed_at {
            None => (until.as_millisecond() - self.opened_at.as_millisecond()).max(0),
            Some(_) => 0,
        }
    }
}

/// The ack position of an agent.
pub(super) struct Cursor {
    /// Everything up to here is acked or parked.
    pub(super) acked: Seq,
    /// No later entry is older than this.
    pub(super) acked_at: Timestamp,
    /// Acked and parked numbers beyond it.
    ahead: BTreeSet<Seq>,
    pub(super) generation: Generation,
    pub(super) tried: Option<Seq>,
    pub(super) tries: u32,
}

impl Cursor {
    /// Returns true if a number is neither acked nor parked yet.
    pub(super) fn is_before(&self, seq: Seq) -> bool {
        seq > self.acked && !self.ahead.contains(&seq)
    }

    /// Covers these numbers, and advances as far as everything before is done.
    fn cover(&mut self, from: Seq, to: Seq) {
        let beyond = from.max(self.acked.next()).get()..=to.get();
        self.ahead.extend(beyond.map(Seq::new));
        while self.ahead.remove(&self.acked.next()) {
            self.acked = self.acked.next();
        }
    }

    /// Applies acked ranges.
    fn ack(&mut self, ranges: &[AckRange]) {
        for range in ranges {
            self.cover(range.from, range.to);
        }
        let passed = ranges.iter().filter(|range| range.to <= self.acked).map(|range| range.at);
        self.acked_at = passed.fold(self.acked_at, Timestamp::max);
    }
}

impl Agent {
    /// Returns an agent with an empty inbox.
    pub(super) fn named(name: &str, created_at: Timestamp) -> Self {
        let cursor = Cursor {
            acked: Seq::default(),
            acked_at: Timestamp::MIN,
            ahead: BTreeSet::new(),
            generation: Generation::default(),
            tried: None,
            tries: 0,
        };
        Self {
            name: name.to_owned(),
            created_at,
            reach_version: 0,
            principal: Principal::OwnerOnly,
            listed: BTreeMap::new(),
            relevance: BTreeMap::new(),
            client_rules: ClientRules::default(),
            display_name: None,
            stops_others: false,
            cursor,
            line: None,
            reached: BTreeMap::new(),
            head: Seq::default(),
            last_at: Timestamp::MIN,
            entries: BTreeMap::new(),
            parked: BTreeMap::new(),
            acks: Vec::new(),
        }
    }

    /// Returns true if an entry waits for its ack.
    pub(super) fn is_waited_for(&self) -> bool {
        self.head > self.cursor.acked
    }

    pub(super) const fn head(&self) -> Seq {
        self.head
    }

    /// Takes the next number. Its time never goes back.
    fn next(&mut self, now: Timestamp) -> (Seq, Timestamp) {
        self.head = self.head.next();
        self.last_at = self.last_at.max(now);
        (self.head, self.last_at)
    }

    /// Stores an entry, or parks it at once: for this reason, or because the inbox is full. Returns its number, its
    /// time, and true if it was parked.
    pub(super) fn hold(
        &mut self,
        held: Held,
        at_once: Option<ParkReason>,
        (entries_max, bytes_max): (i64, i64),
    ) -> (Seq, Timestamp, bool) {
        let is_full = self.is_full_for(held.body.len(), entries_max, bytes_max);
        let (seq, at) = self.next(held.at);
        let held = Held { at, ..held };
        let reason = at_once.or_else(|| is_full.then_some(ParkReason::Full));
        match reason {
            Some(reason) => drop(self.parked.insert(seq, Aside::new(held, reason, at))),
            None => drop(self.entries.insert(seq, held)),
        }
        (seq, at, reason.is_some())
    }

    /// Returns the count of numbers that are not acked, and the bytes of the entries that wait.
    pub(super) fn pending(&self) -> (i64, i64) {
        let waits = self.entries.range(self.cursor.acked.next()..);
        let bytes: usize = waits.map(|(_, held)| held.body.len()).sum();
        (self.head.get() - self.cursor.acked.get(), i64::try_from(bytes).unwrap_or(i64::MAX))
    }

    /// Returns true if one more entry of this size exceeds the limits.
    fn is_full_for(&self, bytes: usize, entries_max: i64, bytes_max: i64) -> bool {
        let waiting = self.head.next().get() - self.cursor.acked.get();
        // Numbers of parked entries do not wait.
        let is_full =
            || i64::try_from(self.waits().count()).is_ok_and(|count| count >= entries_max);
        (waiting > entries_max && is_full()) || self.is_too_much(waiting, bytes, bytes_max)
    }

    /// Returns true if there is no room for one more entry of the longest size.
    pub(super) fn has_no_room(&self, entries_max: i64, bytes_max: i64) -> bool {
        self.is_full_for(FRAME_OUT_BYTES_MAX, entries_max, bytes_max)
    }

    /// Returns true if an entry exceeds the byte limit beside the waiting ones. A single entry always fits.
    fn is_too_much(&self, waiting: i64, more: usize, bytes_max: i64) -> bool {
        let longest = i64::try_from(FRAME_OUT_BYTES_MAX).unwrap_or(i64::MAX);
        if waiting.saturating_mul(longest) <= bytes_max {
            return false;
        }
        let waits = self.entries.range(self.cursor.acked.next()..);
        let bytes: usize = waits.map(|(_, held)| held.body.len()).sum();
        bytes > 0 && i64::try_from(bytes + more).is_ok_and(|bytes| bytes > bytes_max)
    }

    /// Returns the entries for an ask: in order, and within its limits. One entry always fits.
    pub(super) fn waiting(&self, ask: &ReadRequest) -> Vec<Entry> {
        let since = ask.since.max(self.cursor.acked_at);
        let waits = |(seq, held): &(&Seq, &Held)| held.at >= since && self.cursor.is_before(**seq);
        let mut bytes = 0;
        let mut fits = |(_, held): &(&Seq, &Held)| {
            let fits = bytes < WINDOW_BYTES_MAX;
            bytes += held.body.len();
            fits
        };
        self.entries
            .range(ask.after.max(self.cursor.acked).next()..)
            .filter(waits)
            .take(ask.entries_max)
            .take_while(|entry| fits(entry))
            .map(|(seq, held)| held.entry(*seq))
            .collect()
    }

    /// Applies acked ranges.
    pub(super) fn ack(&mut self, ranges: &[AckRange], now: Timestamp) {
        self.cursor.ack(ranges);
        self.acks.extend(ranges.iter().map(|range| (*range, now)));
    }

    /// Parks an entry and moves the cursor over it. Returns true if it was waiting.
    pub(super) fn set_aside(&mut self, seq: Seq, reason: ParkReason, now: Timestamp) -> bool {
        let waits = self.cursor.is_before(seq);
        let Some(held) = self.entries.get(&seq).filter(|_| waits) else { return false };
        self.parked.insert(seq, Aside::new(held.clone(), reason, now));
        self.cursor.cover(seq, seq);
        true
    }

    /// Resubmits a parked entry, once.
    pub(super) fn resubmit(
        &mut self,
        seq: Seq,
        incarnation: Incarnation,
        now: Timestamp,
    ) -> Option<Seq> {
        let aside = self.parked.get(&seq).filter(|aside| aside.resubmitted_as.is_none())?;
        let held = aside.held.clone();
        let (again, at) = self.next(now);
        self.entries.insert(again, Held { incarnation, at, ..held });
        self.parked.entry(seq).and_modify(|aside| aside.resubmitted_as = Some(again));
        Some(again)
    }

    /// Returns the numbers of the waiting entries of a chat, oldest first.
    pub(super) fn waiting_in(&self, chat: StoppedChat<'_>) -> Vec<Seq> {
        let is_of = |held: &Held| {
            held.chat_id == chat.chat_id && chat.bot.is_none_or(|bot| held.bot == bot)
        };
        let waits = self.entries.iter().filter(|(seq, _)| self.cursor.is_before(**seq));
        let of_chat = waits.filter(|(_, held)| is_of(held)).map(|(seq, _)| *seq);
        of_chat.take(chat.entries_max).collect()
    }

    /// Returns the waiting entries, oldest first.
    pub(super) fn waits(&self) -> impl Iterator<Item = &Held> {
        let waits = self.entries.iter().filter(|(seq, _)| self.cursor.is_before(**seq));
        waits.map(|(_, held)| held)
    }

    /// Returns the parked entries, with the reasons.
    pub(super) fn parked(&self) -> Vec<(Seq, ParkReason)> {
        self.parked.iter().map(|(seq, aside)| (*seq, aside.reason)).collect()
    }

    /// Removes parked entries above these bounds, and returns their numbers, in order. Entries of authors over their rate
    /// go first, and the newest before older ones.
    pub(super) fn trim_parked(&mut self, entries_max: i64, bytes_max: i64) -> Vec<Seq> {
        let mut order: Vec<(bool, Seq)> = self
            .parked
            .iter()
            .map(|(seq, aside)| (aside.reason.is_discarded_first(), *seq))
            .collect();
        order.sort_unstable();
        let (mut entries, mut bytes) = (0, 0);
        let mut gone = Vec::new();
        for (_, seq) in order {
            let body = self.parked.get(&seq).map_or(0, |aside| aside.held.body.len());
            entries += 1;
            bytes += i64::try_from(body).unwrap_or(i64::MAX);
            if entries > entries_max || bytes > bytes_max {
                self.parked.remove(&seq);
                gone.push(seq);
            }
        }
        gone.sort_unstable();
        gone
    }

    /// Removes the entries that were parked before a moment.
    pub(super) fn forget_parked(&mut self, before: Timestamp) {
        self.parked.retain(|_, aside| aside.parked_at >= before);
    }

    /// Returns the entries accepted before a moment that still wait.
    pub(super) fn late(&self, before: Timestamp) -> Vec<Seq> {
        self.older_than(before, |seq| self.cursor.is_before(seq))
    }

    /// Returns the entries accepted before a moment that do not wait any more.
    pub(super) fn done(&self, before: Timestamp) -> Vec<Seq> {
        self.older_than(before, |seq| !self.cursor.is_before(seq))
    }

    fn older_than(&self, at: Timestamp, wanted: impl Fn(Seq) -> bool) -> Vec<Seq> {
        let old = self.entries.iter().filter(|(_, held)| held.at < at);
        old.map(|(seq, _)| *seq).filter(|seq| wanted(*seq)).collect()
    }

    /// Removes the entries after a number, which is then the last one given out.
    pub(super) fn lose_entries(&mut self, after: Seq) {
        self.entries.retain(|seq, _| *seq <= after);
        self.head = self.head.min(after);
    }

    /// Removes an entry.
    pub(super) fn forget(&mut self, seq: Seq) {
        self.entries.remove(&seq);
    }
}

impl Held {
    fn entry(&self, seq: Seq) -> Entry {
        let json = EntryJson::from_stored(self.body.to_vec());
        Entry {
            seq,
            incarnation: self.incarnation,
            at: self.at,
            bot: self.bot,
            chat_id: self.chat_id.clone(),
            json: json.map(Arc::new).map_err(|_| ParkReason::Unsendable),
        }
    }
}

impl Aside {
    const fn new(held: Held, reason: ParkReason, parked_at: Timestamp) -> Self {
        Self { held, reason, parked_at, resubmitted_as: None }
    }
}
