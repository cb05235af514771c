//! Habits: how quickly a gateway acks, whether it answers, and how it leaves.

use std::time::Duration;

use crate::chance::Chance;

/// How a gateway leaves its line, or does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leave {
    /// It stays, and does nothing for a while.
    Freeze,
    /// Without a word.
    Drop,
    /// With a close.
    Close,
    /// It says that it goes idle.
    Idle,
    /// It dials another line and still uses this one.
    Overlap,
}

/// How a gateway behaves.
#[derive(Clone, Debug)]
pub struct Habit {
    /// How long it takes to ack.
    acks_ms: (u64, u64),
    /// Of a thousand entries, how many it answers.
    answers_per_mille: u64,
    /// How long it stays on a line. `None`: for ever.
    stays_ms: Option<(u64, u64)>,
    /// How it leaves.
    leaves: Vec<Leave>,
    /// Whether it needs time to boot, as older clients do.
    pub(super) boots_slowly: bool,
}

/// How long somebody sleeps.
const SLEEPS_MS: (u64, u64) = (1_000, 12_000);

/// Longer than any run.
const EVER: Duration = Duration::from_hours(1);

impl Habit {
    /// Some habit. Where nothing may break, nobody leaves.
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
        }
    }

    /// Whether it may dial again so often that an entry is taken for one that nobody can take.
    pub const fn may_park(&self) -> bool {
        self.stays_ms.is_some()
    }

    /// How long it stays this time, and how it leaves then.
    pub(super) fn next(&self, chance: &mut Chance) -> (Duration, Leave) {
        let stays = self.stays_ms.map_or(EVER, |(from, to)| chance.millis(from, to));
        (stays, *chance.one_of(&self.leaves))
    }

    /// How long it takes to ack the next entry.
    pub(super) const fn acks_after(&self, chance: &mut Chance) -> Duration {
        chance.millis(self.acks_ms.0, self.acks_ms.1)
    }

    /// Whether it answers the next entry, and how long it thinks.
    pub(super) fn answers_after(&self, chance: &mut Chance) -> Option<Duration> {
        chance.happens(self.answers_per_mille).then(|| chance.millis(50, 2_000))
    }

    /// How long it sleeps.
    pub(super) const fn sleeps_for(chance: &mut Chance) -> Duration {
        chance.millis(SLEEPS_MS.0, SLEEPS_MS.1)
    }
}
