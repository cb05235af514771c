//! Rotation: when a key is made, and how long it is believed.
//!
//! A key is made known a day before it signs, signs for thirty, and is believed for a day more.
//! Nobody has to be there for it: whoever needs a key looks. There is a key of the algorithm that is
//! wanted, and always one that fires are signed with.

use std::time::Duration;

use nightdesk_types::Timestamp;
use nightdesk_types::limits::{
    ACCESS_TOKEN_LEEWAY, SIGNING_KEY_KEPT_AFTER, SIGNING_KEY_KNOWN_BEFORE, SIGNING_KEY_LIFE,
};

use super::{KeyAlgorithm, StoredKey};

/// What fires are signed with, whatever is wanted else.
pub(super) const OF_FIRES: KeyAlgorithm = KeyAlgorithm::Es256;

/// The number, the algorithm and the first use of the key that is to be made now, if one is.
pub(super) fn due(
    keys: &[StoredKey],
    wanted: KeyAlgorithm,
    now: Timestamp,
) -> Option<(i64, KeyAlgorithm, Timestamp)> {
    let number = keys.iter().map(|key| key.number).max().unwrap_or(0) + 1;
    let live = || keys.iter().filter(|key| !key.retired);
    // Nothing could be signed: it has to do without being known first. It is in use at once on every
    // node, also where the clock is behind: that one would make another otherwise.
    if !live().any(|key| key.used_from <= now) {
        return Some((number, wanted, now.checked_sub(ACCESS_TOKEN_LEEWAY).unwrap_or(now)));
    }
    let known_by = after(now, SIGNING_KEY_KNOWN_BEFORE);
    let lacks = |algorithm: &KeyAlgorithm| {
        let mut its = live().filter(|key| key.algorithm == *algorithm);
        !its.any(|key| after(key.used_from, SIGNING_KEY_LIFE) > known_by)
    };
    let algorithm = [wanted, OF_FIRES].into_iter().find(lacks)?;
    Some((number, algorithm, known_by))
}

/// The keys whose tokens are believed, and that are published: those in use, to come, and just out
/// of use. Oldest first, as they came.
pub(super) fn believed(
    keys: &[StoredKey],
    wanted: KeyAlgorithm,
    now: Timestamp,
) -> impl Iterator<Item = &StoredKey> {
    let is_over = move |key: &StoredKey| {
        if ![wanted, OF_FIRES].contains(&key.algorithm) {
            // None of its kind comes after it.
            return after(key.used_from, SIGNING_KEY_LIFE + SIGNING_KEY_KEPT_AFTER) <= now;
        }
        let mut later = keys.iter().filter(|other| {
            !other.retired && other.number > key.number && other.algorithm == key.algorithm
        });
        later.any(|other| after(other.used_from, SIGNING_KEY_KEPT_AFTER) <= now)
    };
    keys.iter().filter(move |key| !key.retired && !is_over(key))
}

fn after(at: Timestamp, span: Duration) -> Timestamp {
    at.checked_add(span).unwrap_or(Timestamp::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ES256: KeyAlgorithm = KeyAlgorithm::Es256;
    const RS256: KeyAlgorithm = KeyAlgorithm::Rs256;
    const DAY: i64 = 24 * 60 * 60;
    const START: i64 = 1_800_000_000;

    fn at(day: i64) -> Timestamp {
        Timestamp::from_second(START + day * DAY).unwrap()
    }

    /// A moment before that, for clocks that are behind.
    fn at_once(day: i64) -> Timestamp {
        Timestamp::from_second(START + day * DAY - 30).unwrap()
    }

    fn key(number: i64, used_from: Timestamp) -> StoredKey {
        StoredKey {
            number,
            kid: number.to_string(),
            algorithm: KeyAlgorithm::Es256,
            sealed: Vec::new(),
            used_from,
            retired: false,
        }
    }

    fn numbers(keys: &[StoredKey], now: Timestamp) -> Vec<i64> {
        believed(keys, KeyAlgorithm::Es256, now).map(|key| key.number).collect()
    }

    #[test]
    fn a_key_is_known_a_day_before_it_signs_and_kept_a_day_after() {
        let first = [key(1, at(0))];
        let both = [key(1, at(0)), key(2, at(30))];
        let dues = [
            ("none yet", &[][..], 0, Some((1, ES256, at_once(0)))),
            ("fresh", &first[..], 0, None),
            ("in its last days", &first, 28, None),
            ("a day before it ends", &first, 29, Some((2, ES256, at(30)))),
            ("nobody looked for long", &first, 70, Some((2, ES256, at(71)))),
            ("the next one is there", &both, 29, None),
            ("the next one ends too", &both, 59, Some((3, ES256, at(60)))),
        ];
        for (name, keys, day, want) in dues {
            assert_eq!(due(keys, ES256, at(day)), want, "{name}");
        }
        let kept = [(29, vec![1, 2]), (30, vec![1, 2]), (31, vec![2]), (400, vec![2])];
        for (day, want) in kept {
            assert_eq!(numbers(&both, at(day)), want, "{day}");
        }
    }

    #[test]
    fn a_key_taken_out_of_use_is_replaced_at_once() {
        let gone = StoredKey { retired: true, ..key(1, at(0)) };
        let keys = [gone.clone(), key(2, at(30))];

        assert_eq!(due(&keys, ES256, at(29)), Some((3, ES256, at_once(29))));
        assert_eq!(numbers(&keys, at(29)), [2]);
        assert_eq!(due(&[gone], ES256, at(5)), Some((2, ES256, at_once(5))));
    }

    #[test]
    fn a_node_whose_clock_is_behind_makes_no_key_of_its_own() {
        let (number, _, used_from) = due(&[], ES256, at(0)).unwrap();
        let behind = at(0).checked_sub(Duration::from_secs(10)).unwrap();

        assert_eq!(due(&[key(number, used_from)], ES256, behind), None);
    }

    #[test]
    fn another_algorithm_is_wanted_and_made_known_first() {
        let keys = [key(1, at(0))];

        assert_eq!(due(&keys, RS256, at(3)), Some((2, RS256, at(4))));
    }

    #[test]
    fn there_is_a_key_for_fires_whatever_is_wanted() {
        let rs256 = |number, used_from| StoredKey { algorithm: RS256, ..key(number, used_from) };
        let believed = |keys: &[StoredKey], wanted, day| -> Vec<_> {
            believed(keys, wanted, at(day)).map(|key| key.number).collect()
        };
        let mut keys = vec![rs256(1, at(0))];
        assert_eq!(due(&keys, RS256, at(0)), Some((2, ES256, at(1))));
        keys.push(key(2, at(1)));
        assert_eq!(due(&keys, RS256, at(28)), None);
        assert_eq!(due(&keys, RS256, at(29)), Some((3, RS256, at(30))));
        keys.push(rs256(3, at(30)));
        assert_eq!(due(&keys, RS256, at(30)), Some((4, ES256, at(31))));
        keys.push(key(4, at(31)));

        let kept =
            [(30, vec![1, 2, 3, 4]), (31, vec![2, 3, 4]), (32, vec![3, 4]), (400, vec![3, 4])];
        for (day, want) in kept {
            assert_eq!(believed(&keys, RS256, day), want, "{day}");
        }
        // Nobody wants the other any more; what it signed is good for a while.
        assert_eq!(believed(&keys, ES256, 60), [3, 4]);
        assert_eq!(believed(&keys, ES256, 61), [4]);
    }

    proptest! {
        // Whoever looks at whatever times: there is always a key that signs, and what it signs is
        // believed for as long as a token lives.
        #[test]
        fn there_is_always_a_key(steps in prop::collection::vec(1_i64..40 * 24, 1..40)) {
            let hour = |hour: i64| Timestamp::from_second(START + hour * 60 * 60).unwrap();
            let (mut keys, mut now) = (Vec::new(), 0);
            for step in steps {
                if let Some((number, _, used_from)) = due(&keys, ES256, hour(now)) {
                    prop_assert!(
                        keys.is_empty() || used_from >= after(hour(now), SIGNING_KEY_KNOWN_BEFORE)
                    );
                    keys.push(key(number, used_from));
                }
                let signs = keys.iter().rev().find(|key| key.used_from <= hour(now));
                let signs = signs.expect("one is in use").number;
                for later in [hour(now), hour(now + 2)] {
                    prop_assert!(numbers(&keys, later).contains(&signs));
                }
                now += step;
            }
        }
    }
}
