//! Chooses an agent's answers to a fire.

use std::time::Duration;

use nightdesk_types::limits::OUTSIDE_CALL_WAIT;

use crate::chance::Dice;

/// Longer than any caller waits for an answer.
const TOO_LONG: Duration = Duration::from_secs(OUTSIDE_CALL_WAIT.as_secs() + 2);

/// One answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Say {
    /// Takes the fire.
    Takes,
    /// Takes the fire, but the answer is cut off.
    TakesUnheard,
    /// Takes the fire, but answers after the caller's timeout.
    TakesLate(Duration),
    /// Rejects the desk's token.
    Doubts,
    /// Fails for now, with an optional `Retry-After` in seconds.
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

    /// Returns true if the answer does not reach the desk.
    pub(super) const fn is_cut(self) -> bool {
        matches!(self, Self::TakesUnheard | Self::TakesLate(_))
    }
}

/// The answers to one fire: `first` for this many times, then it is taken.
#[derive(Clone, Copy, Debug)]
pub(super) struct Says {
    first: Say,
    times: u64,
}

impl Says {
    /// Every fire is taken at once.
    pub(super) const POLITE: Self = Self { first: Say::Takes, times: 0 };

    /// Returns random answers, some of which do not take the fire at once (F45).
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

    /// Returns the next answer.
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
