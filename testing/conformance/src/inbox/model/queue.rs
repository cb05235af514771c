//! Implements the reference queue: a plain list of the state of each number.

use std::collections::BTreeSet;

use nightdesk_types::limits::TRIES_MAX;
use proptest::sample::Index;

/// State of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Waiting,
    Acked,
    Parked,
    Resubmitted,
}

/// The expected answers of a store, in the plainest form.
#[derive(Debug, Default)]
pub(super) struct Queue {
    /// States of the numbers one, two and so on.
    fates: Vec<Fate>,
    /// Count of numbers that came from events.
    puts: usize,
    /// Numbers that the cursor may move over.
    covered: BTreeSet<i64>,
    /// Numbers that the line was handed, in order, after its start.
    handed: Vec<i64>,
    began_at: i64,
    tried: Option<i64>,
    tries: u32,
}

impl Queue {
    pub(super) const fn puts(&self) -> usize {
        self.puts
    }

    pub(super) fn head(&self) -> i64 {
        i64::try_from(self.fates.len()).unwrap_or(i64::MAX)
    }

    /// Returns the number up to which everything is covered.
    pub(super) fn cursor(&self) -> i64 {
        let whole = (1..).zip(&self.covered).take_while(|(number, covered)| number == *covered);
        whole.map(|(number, _)| number).last().unwrap_or(0)
    }

    pub(super) fn put(&mut self) -> i64 {
        self.puts += 1;
        self.fates.push(Fate::Waiting);
        self.head()
    }

    pub(super) fn put_unsendable(&mut self) -> i64 {
        self.puts += 1;
        self.fates.push(Fate::Parked);
        self.head()
    }

    pub(super) fn read_up_to(&self) -> i64 {
        self.handed.last().copied().unwrap_or(self.began_at)
    }

    pub(super) fn read(&mut self, entries_max: usize) -> Vec<i64> {
        let after = self.read_up_to();
        let waiting = self.all(Fate::Waiting).filter(|number| *number > after);
        let next: Vec<i64> = waiting.take(entries_max).collect();
        self.handed.extend(&next);
        next
    }

    /// Returns an entry that the line was handed and has not acked, with the numbers before it that were no entries for
    /// this line.
    pub(super) fn pick_to_ack(&self, pick: Index) -> Option<(i64, i64)> {
        let before = [self.began_at].into_iter().chain(self.handed.iter().copied());
        let ranges = before.zip(&self.handed).map(|(before, number)| (before + 1, *number));
        let open: Vec<_> = ranges.filter(|(_, number)| self.is(*number, Fate::Waiting)).collect();
        (!open.is_empty()).then(|| *pick.get(&open))
    }

    pub(super) fn ack(&mut self, (from, to): (i64, i64)) -> i64 {
        self.become_of(to, Fate::Acked);
        self.covered.extend(from..=to);
        self.cursor()
    }

    pub(super) fn pick_acked(&self, pick: Index) -> Option<i64> {
        let acked: Vec<i64> = self.all(Fate::Acked).collect();
        (!acked.is_empty()).then(|| *pick.get(&acked))
    }

    /// Returns any number that was given out, or the next one that was not.
    pub(super) fn pick(&self, pick: Index) -> Option<i64> {
        let number = pick.index(self.fates.len() + 1) + 1;
        i64::try_from(number).ok()
    }

    pub(super) fn park(&mut self, number: i64) -> bool {
        let waits = self.is(number, Fate::Waiting);
        if waits {
            self.become_of(number, Fate::Parked);
            self.covered.insert(number);
        }
        waits
    }

    pub(super) fn resubmit(&mut self, number: i64) -> Option<i64> {
        self.is(number, Fate::Parked).then(|| {
            self.become_of(number, Fate::Resubmitted);
            self.fates.push(Fate::Waiting);
            self.head()
        })
    }

    pub(super) fn oldest_waiting(&self) -> Option<i64> {
        self.all(Fate::Waiting).next()
    }

    /// Ends the line, possibly in vain, and begins another. Returns the entry that was tried too often.
    pub(super) fn redial(&mut self, tried: Option<i64>) -> Option<i64> {
        if let Some(tried) = tried {
            self.tries = if self.tried == Some(tried) { self.tries + 1 } else { 1 };
            self.tried = Some(tried);
        }
        let given_up = self.tried.filter(|_| self.tries >= TRIES_MAX);
        let parked = given_up.filter(|number| self.park(*number));
        self.began_at = self.cursor();
        self.handed.clear();
        parked
    }

    /// Returns all numbers that were ever parked.
    pub(super) fn parked(&self) -> Vec<i64> {
        let mut parked: Vec<i64> =
            self.all(Fate::Parked).chain(self.all(Fate::Resubmitted)).collect();
        parked.sort_unstable();
        parked
    }

    fn all(&self, fate: Fate) -> impl Iterator<Item = i64> {
        (1..).zip(&self.fates).filter(move |(_, other)| **other == fate).map(|(number, _)| number)
    }

    fn is(&self, number: i64, fate: Fate) -> bool {
        self.fate(number).is_some_and(|index| self.fates[index] == fate)
    }

    fn become_of(&mut self, number: i64, fate: Fate) {
        if let Some(index) = self.fate(number) {
            self.fates[index] = fate;
        }
    }

    fn fate(&self, number: i64) -> Option<usize> {
        usize::try_from(number - 1).ok().filter(|index| *index < self.fates.len())
    }
}
