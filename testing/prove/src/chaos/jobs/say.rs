//! What an agent says when it is told that it is time.

use std::time::Duration;

use nightdesk_types::limits::OUTSIDE_CALL_WAIT;

use crate::chance::Dice;

/// Longer than anybody waits for an answer.
const TOO_LONG: Duration = Duration::from_secs(OUTSIDE_CALL_WAIT.as_secs() + 2);

/// One answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Say {
    /// It takes the fire.
    Takes,
    /// It takes it, and nobody hears so.
    TakesUnheard,
    /// It takes it, too late for whoever asked to hear so.
    TakesLate(Duration),
    /// It does not believe that it is the desk.
    Doubts,
    /// It cannot just now; or perhaps after so many seconds.
    Fails(Option<u64>),
}

impl Say {
    pub(super) const fn status(self) -> u16 {
        match self {
            Self::Takes | Self::TakesUnheard | Self::TakesLate(_) => 202,
            Self::Doubts => 401,
            Self::Fails(None) => 500,
            Self::Fails(Some(_)) => 503,
        }
    }

    /// Whether the answer is kept from the desk.
    pub(super) const fn is_cut(self) -> bool {
        matches!(self, Self::TakesUnheard | Self::TakesLate(_))
    }
}

/// What is said to one fire: so often the one, and then that it is taken.
#[derive(Clone, Copy, Debug)]
pub(super) struct Says {
    first: Say,
    times: u64,
}

impl Says {
    /// Every fire is taken at once.
    pub(super) const POLITE: Self = Self { first: Say::Takes, times: 0 };

    /// F45: some are not.
    pub(super) fn thrown(dice: &mut Dice) -> Self {
        let (first, times) = match dice.throw() % 100 {
            0..14 => (Say::TakesUnheard, 1),
            14..20 => (Say::TakesLate(TOO_LONG), 1),
            20..27 => (Say::Doubts, 1),
            27..38 => (Say::Fails(None), 1 + dice.throw() % 3),
            38..42 => (Say::Fails(Some(1 + dice.throw() % 3)), 1),
            _ => return Self::POLITE,
        };
        Self { first, times }
    }

    /// The next answer.
    pub(super) const fn next(&mut self) -> Say {
        if self.times == 0 {
            return Say::Takes;
        }
        self.times -= 1;
        self.first
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_is_said_first_a_fire_is_taken_at_last() {
        let mut dice = Dice::of(1, 1);
        for _ in 0..1_000 {
            let mut says = Says::thrown(&mut dice);
            assert!((0..4).any(|_| says.next() == Say::Takes), "{says:?}");
        }
    }

    #[test]
    fn an_agent_that_is_polite_takes_every_fire() {
        assert_eq!(Says::POLITE.clone().next(), Say::Takes);
    }
}
