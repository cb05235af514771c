//! Delays the first entry while a stock client boots.
//!
//! A booting client acknowledges entries and loses them. No frame tells the desk that the boot is over, and a client on
//! a busy machine takes longer than one on an idle machine. So the desk counts pongs instead of seconds: while the
//! client, the network or the desk stands still, no round is completed.

use nightdesk_types::Moment;
use nightdesk_types::limits::{BOOT_MAX, BOOT_PING_GAP, BOOT_PINGS};

/// The ping rounds with a booting client.
#[derive(Debug)]
pub(super) struct BootRounds {
    answered: u32,
    /// The start of the next round; `None` while a ping is unanswered.
    next_round: Option<Moment>,
    /// The time when a client that answers no pings counts as booted.
    gives_up: Moment,
}

impl BootRounds {
    /// Starts when the client gets its first descriptor.
    pub(super) fn new(described: Moment) -> Self {
        Self { answered: 0, next_round: Some(described), gives_up: described + BOOT_MAX }
    }

    /// Returns the time when [`is_over`](Self::is_over) or [`wants_ping`](Self::wants_ping) can change without a pong.
    pub(super) fn deadline(&self) -> Moment {
        self.next_round.map_or(self.gives_up, |round| round.min(self.gives_up))
    }

    pub(super) fn is_over(&self, now: Moment) -> bool {
        let completed = self.answered == BOOT_PINGS && self.next_round.is_some_and(|at| at <= now);
        completed || self.gives_up <= now
    }

    /// Returns true if a round begins now. The caller pings.
    pub(super) fn wants_ping(&mut self, now: Moment) -> bool {
        self.answered < BOOT_PINGS && self.next_round.take_if(|at| *at <= now).is_some()
    }

    pub(super) fn record_pong(&mut self, now: Moment) {
        if self.next_round.is_none() {
            self.answered += 1;
            self.next_round = Some(now + BOOT_PING_GAP);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use nightdesk_types::limits::HOLD_BACK;

    use super::*;

    /// Returns the time until the first entry if the client answers each ping after `lag`.
    fn held_back(mut lag: impl FnMut(u32) -> Duration) -> Duration {
        let begun = Moment::after_start(Duration::ZERO);
        let mut boot = BootRounds::new(begun);
        let mut now = begun;
        while !boot.is_over(now) {
            if boot.wants_ping(now) {
                let pong = now + lag(boot.answered);
                if pong < boot.deadline() {
                    now = pong;
                    boot.record_pong(now);
                    continue;
                }
            }
            now = boot.deadline();
        }
        now.since(begun)
    }

    #[test]
    fn time_in_which_the_client_does_not_answer_does_not_count() {
        let millis = Duration::from_millis;
        assert_eq!(held_back(|_| Duration::ZERO), HOLD_BACK, "answers at once");
        assert_eq!(held_back(|_| millis(100)), HOLD_BACK + millis(100) * BOOT_PINGS, "is far away");
        let stands_still = |round| if round == 2 { millis(4_000) } else { millis(0) };
        assert_eq!(held_back(stands_still), HOLD_BACK + millis(4_000), "stands still once");
        assert_eq!(held_back(|_| BOOT_MAX), BOOT_MAX, "never answers");
    }

    #[test]
    fn a_desk_that_stands_still_begins_its_rounds_later() {
        let begun = Moment::after_start(Duration::ZERO);
        let mut boot = BootRounds::new(begun);
        let late = begun + HOLD_BACK;
        assert!(!boot.is_over(late), "no round was completed");
        assert!(boot.wants_ping(late));
        assert!(!boot.wants_ping(late), "one ping a round");
        boot.record_pong(late);
        boot.record_pong(late);
        assert_eq!(boot.answered, 1, "one pong a round");
    }
}
