//! Names that were looked up and do not exist.

use std::collections::HashSet;
use std::hash::Hash;
use std::time::Duration;

use nightdesk_types::limits::{UNKNOWN_NAME_KEPT_FOR, UNKNOWN_NAMES_MAX};
use tokio::time::Instant;

/// The time that names are collected in one generation.
const GENERATION: Duration = Duration::from_secs(1);

const _: () = assert!(
    2 * GENERATION.as_millis() == UNKNOWN_NAME_KEPT_FOR.as_millis(),
    "a name is kept for two generations at most"
);

/// Names in one generation.
const GENERATION_NAMES_MAX: usize = UNKNOWN_NAMES_MAX / 2;

/// Unknown names in two generations. The older one is dropped as a whole, so no name needs a time of its own.
#[derive(Debug)]
pub(super) struct UnknownNames<N> {
    newer: HashSet<N>,
    older: HashSet<N>,
    /// The time at which the newer generation began.
    began_at: Option<Instant>,
}

impl<N> Default for UnknownNames<N> {
    fn default() -> Self {
        Self { newer: HashSet::new(), older: HashSet::new(), began_at: None }
    }
}

impl<N: Eq + Hash> UnknownNames<N> {
    /// Returns true if the name was not found a moment ago.
    pub(super) fn contains(&mut self, name: &N, now: Instant) -> bool {
        self.turn(now);
        self.newer.contains(name) || self.older.contains(name)
    }

    /// Adds names that were not found by a lookup that began at `asked_at`. The result of a lookup that began before the
    /// newer generation is not added, since that generation would keep it for too long.
    pub(super) fn extend(&mut self, names: impl Iterator<Item = N>, asked_at: Instant) {
        if self.turn(asked_at) > asked_at {
            return;
        }
        for name in names {
            if self.newer.len() >= GENERATION_NAMES_MAX {
                self.older = std::mem::take(&mut self.newer);
            }
            self.newer.insert(name);
        }
    }

    /// Removes a name.
    pub(super) fn remove(&mut self, name: &N) {
        self.newer.remove(name);
        self.older.remove(name);
    }

    /// Drops generations whose time is over. Returns the time at which the newer one began.
    fn turn(&mut self, now: Instant) -> Instant {
        let began_at = *self.began_at.get_or_insert(now);
        let age = now.saturating_duration_since(began_at);
        if age >= 2 * GENERATION {
            self.newer.clear();
            self.older.clear();
            *self.began_at.insert(now)
        } else if age >= GENERATION {
            self.older = std::mem::take(&mut self.newer);
            // Not the present time: a late turn must not keep names for longer.
            *self.began_at.insert(began_at + GENERATION)
        } else {
            began_at
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The times of a test, as steps of a tenth of a generation.
    fn steps() -> impl Fn(u32) -> Instant {
        let start = Instant::now();
        move |step| start + step * GENERATION / 10
    }

    #[test]
    fn a_name_is_unknown_for_its_time_and_no_longer() {
        for added in 0..40 {
            for looked in added..80 {
                let (at, mut unknown) = (steps(), UnknownNames::default());
                unknown.contains(&"first", at(0));
                unknown.extend(["name"].into_iter(), at(added));
                let age = looked - added;
                let is_unknown = unknown.contains(&"name", at(looked));
                assert!(age >= 10 || is_unknown, "dropped early: {added} to {looked}");
                assert!(age < 20 || !is_unknown, "kept too long: {added} to {looked}");
            }
        }
    }

    #[test]
    fn late_turns_keep_no_name_for_longer() {
        let (at, mut unknown) = (steps(), UnknownNames::default());
        unknown.extend(["name"].into_iter(), at(0));

        assert!(unknown.contains(&"name", at(19)));
        assert!(!unknown.contains(&"name", at(20)));
    }

    #[test]
    fn the_result_of_a_slow_lookup_is_not_kept() {
        let (at, mut unknown) = (steps(), UnknownNames::default());
        unknown.extend(["other"].into_iter(), at(0));
        unknown.contains(&"other", at(12));
        unknown.extend(["name"].into_iter(), at(9));

        assert!(!unknown.contains(&"name", at(12)));
    }

    #[test]
    fn a_name_that_was_created_is_not_unknown() {
        let (at, mut unknown) = (steps(), UnknownNames::default());
        unknown.extend(["name"].into_iter(), at(0));
        unknown.remove(&"name");

        assert!(!unknown.contains(&"name", at(0)));
    }

    #[test]
    fn the_cache_has_a_bound() {
        let (at, mut unknown) = (steps(), UnknownNames::default());
        unknown.extend(0..3 * UNKNOWN_NAMES_MAX, at(0));

        assert!(unknown.newer.len() + unknown.older.len() <= UNKNOWN_NAMES_MAX);
        assert!(unknown.contains(&(3 * UNKNOWN_NAMES_MAX - 1), at(1)), "the newest stay");
    }
}
