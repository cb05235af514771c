//! I9: a resource has one owner at a time.

use std::collections::{BTreeMap, BTreeSet};

use super::{Findings, Invariant};
use crate::event::Sock;
use crate::history::{Epoch, History, Mark, Owning, Socket};
use crate::names::Name;

/// Maximum time during which two sockets of one shard may both be alive.
const OVERLAP_MS: u64 = 20_000;

/// Minimum interval between new sessions of a bot.
const IDENTIFY_GAP_MS: u64 = 5_000;

/// Maximum new sessions of a bot per day.
const IDENTIFIES_PER_DAY_MAX: usize = 800;

const DAY_MS: u64 = 24 * 60 * 60 * 1000;

pub(super) fn check(history: &History, findings: &mut Findings) {
    let mut resources: BTreeMap<Name, Owned> = BTreeMap::new();
    for epoch in &history.epochs {
        let owned = resources.entry(epoch.resource).or_default();
        if let Some((before, why)) = owned.step(epoch) {
            findings.add(Invariant::OneOwner, [before, epoch.mark], || {
                format!("{} epoch {}: {why}", history.text(epoch.resource), epoch.number)
            });
        }
    }
    let mut shards: BTreeMap<(Name, Name), Shard> = BTreeMap::new();
    for socket in &history.sockets {
        if let Some(began) = shards.entry((socket.bot, socket.shard)).or_default().step(socket) {
            findings.add(Invariant::OneOwner, [began, socket.mark], || {
                let (bot, shard) = (history.text(socket.bot), history.text(socket.shard));
                format!("two sockets of shard {shard} of {bot} are alive")
            });
        }
    }
    identifies(history, findings);
}

/// State of a resource.
#[derive(Default)]
struct Owned {
    /// The highest epoch so far.
    highest: Option<(u64, Mark)>,
    /// The highest epoch that a node acquired.
    acquired: Option<(u64, Mark)>,
    /// The owner of each epoch, by the tables.
    owners: BTreeMap<u64, (Name, Mark)>,
}

impl Owned {
    /// Applies a record. Returns the violation and the record that it contradicts.
    fn step(&mut self, seen: &Epoch) -> Option<(Mark, &'static str)> {
        let now = Some((seen.number, seen.mark));
        let above =
            |highest: Option<(u64, Mark)>| highest.filter(|(epoch, _)| *epoch > seen.number);
        match seen.what {
            Owning::Acquired => {
                let taken = self.acquired.filter(|(epoch, _)| *epoch >= seen.number);
                self.acquired = self.acquired.max(now);
                self.highest = self.highest.max(now);
                taken.map(|(_, before)| (before, "was acquired though it is not above the last"))
            }
            Owning::Leased(owner) => {
                let lower = above(self.highest).map(|(_, before)| (before, "epochs went back"));
                self.highest = self.highest.max(now);
                let (first, before) = *self.owners.entry(seen.number).or_insert((owner, seen.mark));
                lower.or((first != owner).then_some((before, "has two owners")))
            }
            Owning::Committed => above(self.highest)
                .map(|(_, before)| (before, "was written though a later one was acquired")),
        }
    }
}

/// The sockets of a shard.
#[derive(Default)]
struct Shard {
    open: BTreeSet<Name>,
    /// Start of an overlap of two sockets.
    overlap: Option<Mark>,
    /// Sockets that were alive after the permitted overlap.
    alive: BTreeSet<Name>,
}

impl Shard {
    /// Applies an event of a socket. Returns the start of an overlap that is too long.
    fn step(&mut self, seen: &Socket) -> Option<Mark> {
        match seen.what {
            Sock::Open => {
                self.open.insert(seen.id);
            }
            Sock::Close => {
                self.open.remove(&seen.id);
                self.alive.remove(&seen.id);
            }
            Sock::Heartbeat => {
                let until = self.overlap?.plus_ms(OVERLAP_MS);
                let is_new = seen.mark.at_ns > until.at_ns && self.alive.insert(seen.id);
                return self.overlap.filter(|_| is_new && self.alive.len() == 2);
            }
            Sock::Resume | Sock::Identify => {}
        }
        if self.open.len() < 2 {
            (self.overlap, self.alive) = (None, BTreeSet::new());
        } else {
            self.overlap.get_or_insert(seen.mark);
        }
        None
    }
}

fn identifies(history: &History, findings: &mut Findings) {
    let mut bots: BTreeMap<Name, Vec<Mark>> = BTreeMap::new();
    for socket in history.sockets.iter().filter(|socket| socket.what == Sock::Identify) {
        let before = bots.entry(socket.bot).or_default();
        let soon = before.last().filter(|last| socket.mark.ms_after(**last) < IDENTIFY_GAP_MS);
        let first = before.len().checked_sub(IDENTIFIES_PER_DAY_MAX).map(|at| before[at]);
        let often = first.filter(|first| socket.mark.ms_after(*first) < DAY_MS);
        if let Some(since) = soon.copied().or(often) {
            findings.add(Invariant::OneOwner, [since, socket.mark], || {
                format!("{} identified itself too often", history.text(socket.bot))
            });
        }
        before.push(socket.mark);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Event;
    use crate::tale::Tale;

    fn acquired(epoch: u64) -> Event {
        Event::OwnAcq { resource: "bot".to_owned(), epoch }
    }

    fn committed(epoch: u64) -> Event {
        Event::Commit { resource: "bot".to_owned(), epoch }
    }

    fn leased(owner: &str, epoch: u64) -> Event {
        Event::Lease { resource: "bot".to_owned(), owner: owner.to_owned(), epoch }
    }

    fn socket(socket: &str, what: Sock) -> Event {
        let (bot, shard) = ("bot".to_owned(), "0".to_owned());
        Event::PlatSock { bot, shard, socket: socket.to_owned(), what }
    }

    #[test]
    fn epochs_rise_and_an_old_one_writes_nothing() {
        let cases = [
            ("they rise", vec![acquired(1), committed(1), acquired(2), committed(2)], &[][..]),
            ("one is taken twice", vec![acquired(1), acquired(1)], &["I9"]),
            ("one goes back", vec![acquired(2), acquired(1)], &["I9"]),
            ("an old one writes", vec![acquired(1), acquired(2), committed(1)], &["I9"]),
            ("the tables agree", vec![acquired(1), leased("a", 1), leased("a", 1)], &[]),
            ("nobody owns it for a while", vec![leased("a", 1), leased("", 1)], &[]),
            ("two own one", vec![leased("a", 1), leased("b", 1)], &["I9"]),
            ("the tables go back", vec![leased("a", 2), leased("a", 1)], &["I9"]),
            ("the tables know a later one", vec![leased("a", 2), committed(1)], &["I9"]),
        ];
        for (name, events, want) in cases {
            let mut tale = Tale::clean();
            tale.note_all(events);
            assert_eq!(tale.broken(), want, "{name}");
        }
    }

    #[test]
    fn two_sockets_of_a_shard_may_overlap_for_a_while() {
        for (overlap_ms, want) in [(OVERLAP_MS, &[][..]), (OVERLAP_MS + 10, &["I9"])] {
            let mut tale = Tale::clean();
            tale.note(socket("s1", Sock::Open)).note(socket("s2", Sock::Open));
            tale.wait_ms(overlap_ms - 2).note(socket("s1", Sock::Heartbeat));
            tale.note(socket("s2", Sock::Heartbeat));
            assert_eq!(tale.broken(), want, "{overlap_ms} ms");
        }
    }

    #[test]
    fn a_dead_socket_beside_a_live_one_is_no_second_owner() {
        let mut tale = Tale::clean();
        tale.note(socket("s1", Sock::Open)).note(socket("s2", Sock::Open)).wait_ms(60_000);
        tale.note(socket("s2", Sock::Heartbeat)).note(socket("s2", Sock::Heartbeat));

        assert_eq!(tale.broken(), [""; 0]);
    }

    #[test]
    fn a_second_overlap_has_its_own_time() {
        let mut tale = Tale::clean();
        tale.note(socket("s1", Sock::Open)).note(socket("s2", Sock::Open));
        tale.note(socket("s1", Sock::Close)).wait_ms(60_000).note(socket("s3", Sock::Open));
        tale.note(socket("s2", Sock::Heartbeat)).note(socket("s3", Sock::Heartbeat));

        assert_eq!(tale.broken(), [""; 0]);
    }

    #[test]
    fn a_socket_that_was_closed_is_not_alive() {
        let mut tale = Tale::clean();
        tale.note_all(["s1", "s2", "s3"].map(|id| socket(id, Sock::Open)).into());
        tale.wait_ms(60_000).note(socket("s1", Sock::Heartbeat)).note(socket("s1", Sock::Close));
        tale.note(socket("s2", Sock::Heartbeat));

        assert_eq!(tale.broken(), [""; 0]);
    }

    #[test]
    fn a_bot_has_a_budget_for_the_day() {
        for (times, want) in
            [(IDENTIFIES_PER_DAY_MAX, &[][..]), (IDENTIFIES_PER_DAY_MAX + 1, &["I9"])]
        {
            let mut tale = Tale::clean();
            for _ in 0..times {
                tale.wait_ms(IDENTIFY_GAP_MS).note(socket("s1", Sock::Identify));
            }
            assert_eq!(tale.broken(), want, "{times} times");
        }
    }

    #[test]
    fn a_bot_identifies_itself_seldom() {
        for (gap_ms, want) in [(IDENTIFY_GAP_MS, &[][..]), (IDENTIFY_GAP_MS - 10, &["I9"])] {
            let mut tale = Tale::clean();
            tale.note(socket("s1", Sock::Identify)).wait_ms(gap_ms - 1);
            tale.note(socket("s1", Sock::Identify));
            assert_eq!(tale.broken(), want, "{gap_ms} ms");
        }
    }
}
