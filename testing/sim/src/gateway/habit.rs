//! Habits of a gateway: its delay of acks, its answers, and the way it leaves.

use std::time::Duration;

use crate::chance::Chance;

/// Ways to leave a line, or to pause on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leave {
    /// The gateway stays, and is frozen for a while.
    Freeze,
    /// It drops the connection.
    Drop,
    /// It closes the connection.
    Close,
    /// It announces that it goes idle.
    Idle,
    /// It dials another line and still uses this one.
    Overlap,
}

/// The behaviour of a gateway.
#[derive(Clone, Debug)]
pub struct Habit {
    /// Range of the delay of an ack.
    acks_ms: (u64, u64),
    /// Entries per thousand that it answers.
    answers_per_mille: u64,
    /// Range of the time on a line. `None` means forever.
    stays_ms: Option<(u64, u64)>,
    /// The ways that it leaves.
    leaves: Vec<Leave>,
    /// True if it needs time to boot, as older clients do.
    pub(super) boots_slowly: bool,
    /// True if its first turn takes long.
    pub(super) has_long_turn: bool,
}

/// Time of a long turn: longer than an agent without a request counts as present.
pub const LONG_TURN: Duration = Duration::from_mins(5);

/// Range of the time that a gateway sleeps.
const SLEEPS_MS: (u64, u64) = (1_000, 12_000);

/// Longer than any run.
const EVER: Duration = Duration::from_hours(1);

impl Habit {
    /// Generates a habit. In a run without faults no gateway leaves.
    pub fn of(chance: &mut Chance, faulty: bool) -> Self {
        let acks_ms = *chance.one_of(&[(0, 50), (20, 600), (0, 6_000)]);
        let ways = [Leave::Freeze, Leave::Drop, Leave::Close, Leave::Idle, Leave::Overlap];
        let leaves: Vec<Leave> = (0..2).map(|_| *chance.one_of(&ways)).collect();
        let restless = faulty && chance.happens(600);
        Self {
            acks_ms,
            answers_per_mille: *chance.one_of(&[0, 300, 900]),
            stays_ms: restless.then_some((1_000, 12_000)),
            leaves,
            boots_slowly: chance.happens(200),
            has_long_turn: false,
        }
    }

    /// Makes its first turn take long.
    pub const fn take_long(&mut self) {
        self.has_long_turn = true;
    }

    /// Returns true if its first turn takes long.
    pub const fn takes_long(&self) -> bool {
        self.has_long_turn
    }

    /// Returns true if it may reconnect so often that an entry is parked.
    pub const fn may_park(&self) -> bool {
        self.stays_ms.is_some()
    }

    /// Returns the time that it stays, and the way that it leaves then.
    pub(super) fn next(&self, chance: &mut Chance) -> (Duration, Leave) {
        let stays = self.stays_ms.map_or(EVER, |(from, to)| chance.millis(from, to));
        (stays, *chance.one_of(&self.leaves))
    }

    /// Makes it stay on its line, so that it does not delay the recovery from the last fault.
    pub(super) const fn settle(&mut self) {
        self.stays_ms = None;
    }

    /// Returns the delay of the next ack.
    pub(super) const fn acks_after(&self, chance: &mut Chance) -> Duration {
        chance.millis(self.acks_ms.0, self.acks_ms.1)
    }

    /// Returns the delay of the answer to the next entry, or `None` if it does not answer.
    pub(super) fn answers_after(&self, chance: &mut Chance) -> Option<Duration> {
        chance.happens(self.answers_per_mille).then(|| chance.millis(50, 2_000))
    }

    /// Returns the time that it sleeps.
    pub(super) const fn sleeps_for(chance: &mut Chance) -> Duration {
        chance.millis(SLEEPS_MS.0, SLEEPS_MS.1)
    }
}
