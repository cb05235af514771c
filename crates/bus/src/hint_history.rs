//! Tracks the hints of each node life, so that each hint is accepted only once.
//!
//! A life numbers its hints. For each life, the highest number is stored, and which of the [`HINT_WINDOW`] numbers
//! below it were received. So the memory does not grow with the number of hints.

use std::collections::BTreeMap;

use nightdesk_types::Timestamp;
use nightdesk_types::limits::{HINT_AGE_MAX, HINT_WINDOW, LIVES_MAX};

use crate::seal::{HintError, VerifiedHint};

const WORD_BITS: u64 = u64::BITS as u64;
const WORDS: usize = (HINT_WINDOW / WORD_BITS) as usize;

/// The received hints of every life.
#[derive(Debug, Default)]
pub struct HintHistory(BTreeMap<u64, LifeWindow>);

#[derive(Debug)]
struct LifeWindow {
    highest: u64,
    received: Box<[u64; WORDS]>,
    /// The newest time of its hints; the life with the oldest one is dropped first.
    millis: i64,
}

impl HintHistory {
    /// Records a hint, if it is new and recent.
    pub fn record_hint(
        &mut self,
        now: Timestamp,
        said: &VerifiedHint<'_>,
    ) -> Result<(), HintError> {
        let age = now.as_millisecond().abs_diff(said.millis);
        if u128::from(age) > HINT_AGE_MAX.as_millis() {
            return Err(HintError::Late);
        }
        if !self.0.contains_key(&said.life) {
            self.make_room();
        }
        let life = self.0.entry(said.life).or_insert_with(|| LifeWindow::starting_at(said));
        life.millis = life.millis.max(said.millis);
        life.record_number(said.number)
    }

    fn make_room(&mut self) {
        if self.0.len() < LIVES_MAX {
            return;
        }
        let silent = self.0.iter().min_by_key(|(_, life)| life.millis).map(|(name, _)| *name);
        if let Some(silent) = silent {
            self.0.remove(&silent);
        }
    }
}

impl LifeWindow {
    fn starting_at(said: &VerifiedHint<'_>) -> Self {
        Self { highest: said.number, received: Box::new([0; WORDS]), millis: said.millis }
    }

    fn record_number(&mut self, number: u64) -> Result<(), HintError> {
        if self.highest.saturating_sub(number) >= HINT_WINDOW {
            return Err(HintError::Late);
        }
        self.move_to(number);
        let (word, bit) = bit_position(number);
        if self.received[word] & bit != 0 {
            return Err(HintError::Doubled);
        }
        self.received[word] |= bit;
        Ok(())
    }

    /// Clears the numbers that fall out of the window, whose places the new ones take.
    fn move_to(&mut self, number: u64) {
        let steps = number.saturating_sub(self.highest).min(HINT_WINDOW);
        for step in 1..=steps {
            let (word, bit) = bit_position(self.highest.wrapping_add(step));
            self.received[word] &= !bit;
        }
        self.highest = self.highest.max(number);
    }
}

const fn bit_position(number: u64) -> (usize, u64) {
    let at = number % HINT_WINDOW;
    ((at / WORD_BITS) as usize, 1 << (at % WORD_BITS))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millisecond(millis).unwrap()
    }

    const fn said(life: u64, number: u64, millis: i64) -> VerifiedHint<'static> {
        VerifiedHint { life, number, millis, words: "" }
    }

    #[test]
    fn a_hint_is_news_once_and_while_it_is_young() {
        let mut lives = HintHistory::default();
        let (now, edge) = (100_000, i64::try_from(HINT_AGE_MAX.as_millis()).unwrap());
        let cases = [
            ("the first", said(1, 5, now), Ok(())),
            ("again", said(1, 5, now), Err(HintError::Doubled)),
            ("an earlier one, overtaken", said(1, 4, now), Ok(())),
            ("another life's of that number", said(2, 5, now), Ok(())),
            ("old", said(1, 6, now - edge), Ok(())),
            ("too old", said(1, 7, now - edge - 1), Err(HintError::Late)),
            ("of the future", said(1, 8, now + edge + 1), Err(HintError::Late)),
            ("far ahead", said(1, 5 + HINT_WINDOW, now), Ok(())),
            ("overtaken by too many", said(1, 3, now), Err(HintError::Late)),
        ];
        for (name, said, want) in cases {
            assert_eq!(lives.record_hint(at(now), &said), want, "{name}");
        }
    }

    #[test]
    fn the_life_that_is_longest_silent_is_forgotten() {
        let mut lives = HintHistory::default();
        for (life, millis) in (0_u64..).zip(0..=i64::try_from(LIVES_MAX).unwrap()) {
            lives.record_hint(at(millis), &said(life, 0, millis)).unwrap();
        }

        assert_eq!(lives.0.len(), LIVES_MAX);
        assert!(!lives.0.contains_key(&0));
    }

    proptest! {
        #[test]
        fn no_number_is_news_twice(numbers in prop::collection::vec(0..3 * HINT_WINDOW, 0..200)) {
            let (mut lives, mut heard, mut highest) = (HintHistory::default(), HashSet::new(), 0);
            for number in numbers {
                highest = highest.max(number);
                let want = if highest - number >= HINT_WINDOW {
                    Err(HintError::Late)
                } else if heard.insert(number) {
                    Ok(())
                } else {
                    Err(HintError::Doubled)
                };
                prop_assert_eq!(lives.record_hint(at(0), &said(1, number, 0)), want);
            }
        }
    }
}
