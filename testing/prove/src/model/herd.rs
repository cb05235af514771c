//! Models clients that lost their lines and redial, and a node that admits them one after the other.
//!
//! The stock client waits 1 s, then 2, 4, 8, 16 and from there on 30 s between dials, without jitter, so clients that
//! were cut together dial together. Dials wait in order of arrival. A dial that would wait longer than a client does is
//! deferred at once.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use nightdesk_types::limits::{DIAL_ADMITTED_WITHIN, DIALS_PER_SECOND, LEAVE_SPREAD, LEAVE_STEP};

/// Delays of the stock client after each failed dial.
const LADDER_MS: [u64; 6] = [1_000, 2_000, 4_000, 8_000, 16_000, 30_000];

/// Time between two admitted dials.
const TICK_MS: u64 = 1_000 / DIALS_PER_SECOND as u64;

/// Maximum number of waiting dials.
const WAITING_MAX: u64 = DIAL_ADMITTED_WITHIN.as_secs() * DIALS_PER_SECOND as u64;

/// Lines that end, each at its own time.
#[derive(Debug)]
pub struct Herd {
    ended_ms: Vec<u64>,
}

/// The return of a herd.
#[derive(Debug, PartialEq, Eq)]
pub struct Back {
    /// Time from the first loss until half of the lines are open again.
    pub half_ms: u64,
    /// Time until all lines are open again.
    pub all_ms: u64,
    /// Maximum number of dials that waited at one node.
    pub waiting_peak: u64,
    /// Total number of dials at one node.
    pub dials: usize,
}

/// Time of a dial, and its number in the client's sequence.
type Dial = Reverse<(u64, usize)>;

impl Herd {
    /// Returns lines that all end at once, as when their node dies or a network is cut.
    pub fn cut(lines: usize) -> Self {
        Self { ended_ms: vec![0; lines] }
    }

    /// Returns the lines of a node that stops: they end one after the other.
    pub fn stopped(lines: usize) -> Self {
        let spread_us = u64::try_from(LEAVE_SPREAD.as_micros()).unwrap_or(u64::MAX);
        let step_us = u64::try_from(LEAVE_STEP.as_micros()).unwrap_or(u64::MAX);
        let step_us = step_us.min(spread_us / (lines.max(1) as u64));
        let ended_ms = (0..lines as u64).map(|turn| step_us * turn / 1_000).collect();
        Self { ended_ms }
    }

    /// Simulates the dials until the last line is open.
    pub fn comes_back(self) -> Back {
        let lines = self.ended_ms.len();
        let mut door = Door::before(self.ended_ms);
        let mut back_ms = Vec::with_capacity(lines);
        let mut now = 0;
        while back_ms.len() < lines {
            door.open(now);
            if let Some(left) = door.waiting.checked_sub(1) {
                door.waiting = left;
                back_ms.push(now);
            }
            now += TICK_MS;
        }
        Back {
            half_ms: back_ms.get(lines / 2).copied().unwrap_or_default(),
            all_ms: back_ms.last().copied().unwrap_or_default(),
            waiting_peak: door.waiting_peak,
            dials: door.dials,
        }
    }
}

/// Future dials, and the number of waiting ones.
#[derive(Debug)]
struct Door {
    coming: BinaryHeap<Dial>,
    waiting: u64,
    waiting_peak: u64,
    dials: usize,
}

impl Door {
    fn before(ended_ms: Vec<u64>) -> Self {
        let coming = ended_ms.into_iter().map(|ended| Reverse((ended + LADDER_MS[0], 0))).collect();
        Self { coming, waiting: 0, waiting_peak: 0, dials: 0 }
    }

    /// Takes the dials that are due now, as far as there is room.
    fn open(&mut self, now: u64) {
        while self.coming.peek().is_some_and(|Reverse((at, _))| *at <= now) {
            let Some(Reverse((at, step))) = self.coming.pop() else { return };
            self.dials += 1;
            if self.waiting < WAITING_MAX {
                self.waiting += 1;
            } else {
                let step = (step + 1).min(LADDER_MS.len() - 1);
                self.coming.push(Reverse((at + LADDER_MS[step], step)));
            }
        }
        self.waiting_peak = self.waiting_peak.max(self.waiting);
    }
}
