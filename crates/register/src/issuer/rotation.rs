//! Decides when a signing key is created and for which time its tokens are accepted.
//!
//! A key is published a day before it signs, signs for thirty days, and is accepted for one day more. No operator is
//! needed: each use of the keys checks if the next one is due. There is a key of the configured algorithm, and always
//! one for fires.

use std::time::Duration;

use nightdesk_types::Timestamp;
use nightdesk_types::limits::{
    ACCESS_TOKEN_LEEWAY, SIGNING_KEY_KEPT_AFTER, SIGNING_KEY_KNOWN_BEFORE, SIGNING_KEY_LIFE,
};

use super::{KeyAlgorithm, StoredKey};

/// The algorithm of fire tokens, independent of the configured one.
pub(super) const OF_FIRES: KeyAlgorithm = KeyAlgorithm::Es256;

/// Returns the number, the algorithm and the first use of the key that is due now.
pub(super) fn next_due_key(
    keys: &[StoredKey],
    wanted: KeyAlgorithm,
    now: Timestamp,
) -> Option<(i64, KeyAlgorithm, Timestamp)> {
    let number = keys.iter().map(|key| key.number).max().unwrap_or(0) + 1;
    let live = || keys.iter().filter(|key| !key.retired);
    // No key can sign, so this one is not published first. Its use begins slightly in the past, so that a node whose
    // clock is behind uses it too and creates no other.
    if !live().any(|key| key.used_from <= now) {
        return Some((number, wanted, now.checked_sub(ACCESS_TOKEN_LEEWAY).unwrap_or(now)));
    }
    let known_by = add_span(now, SIGNING_KEY_KNOWN_BEFORE);
    let lacks = |algorithm: &KeyAlgorithm| {
        let mut its = live().filter(|key| key.algorithm == *algorithm);
        !its.any(|key| add_span(key.used_from, SIGNING_KEY_LIFE) > known_by)
    };
    let algorithm = [wanted, OF_FIRES].into_iter().find(lacks)?;
    Some((number, algorithm, known_by))
}

/// Returns the keys whose tokens are accepted and that are published: keys in use, upcoming keys, and keys that a newer
/// one replaced recently. Oldest first.
pub(super) fn accepted_keys(
    keys: &[StoredKey],
    wanted: KeyAlgorithm,
    now: Timestamp,
) -> impl Iterator<Item = &StoredKey> {
    let is_over = move |key: &StoredKey| {
        if ![wanted, OF_FIRES].contains(&key.algorithm) {
            // No key of its algorithm follows it.
            return add_span(key.used_from, SIGNING_KEY_LIFE + SIGNING_KEY_KEPT_AFTER) <= now;
        }
        let mut later = keys.iter().filter(|other| {
            !other.retired && other.number > key.number && other.algorithm == key.algorithm
        });
        later.any(|other| add_span(other.used_from, SIGNING_KEY_KEPT_AFTER) <= now)
    };
    keys.iter().filter(move |key| !key.retired && !is_over(key))
}

fn add_span(at: Timestamp, span: Duration) -> Timestamp {
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

    /// Returns a time slightly before that day, for clocks that are behind.
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
        accepted_keys(keys, KeyAlgorithm::Es256, now).map(|key| key.number).collect()
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
            assert_eq!(next_due_key(keys, ES256, at(day)), want, "{name}");
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

        assert_eq!(next_due_key(&keys, ES256, at(29)), Some((3, ES256, at_once(29))));
        assert_eq!(numbers(&keys, at(29)), [2]);
        assert_eq!(next_due_key(&[gone], ES256, at(5)), Some((2, ES256, at_once(5))));
    }

    #[test]
    fn a_node_whose_clock_is_behind_makes_no_key_of_its_own() {
        let (number, _, used_from) = next_due_key(&[], ES256, at(0)).unwrap();
        let behind = at(0).checked_sub(Duration::from_secs(10)).unwrap();

        assert_eq!(next_due_key(&[key(number, used_from)], ES256, behind), None);
    }

    #[test]
    fn another_algorithm_is_wanted_and_made_known_first() {
        let keys = [key(1, at(0))];

        assert_eq!(next_due_key(&keys, RS256, at(3)), Some((2, RS256, at(4))));
    }

    #[test]
    fn there_is_a_key_for_fires_whatever_is_wanted() {
        let rs256 = |number, used_from| StoredKey { algorithm: RS256, ..key(number, used_from) };
        let believed = |keys: &[StoredKey], wanted, day| -> Vec<_> {
            accepted_keys(keys, wanted, at(day)).map(|key| key.number).collect()
        };
        let mut keys = vec![rs256(1, at(0))];
        assert_eq!(next_due_key(&keys, RS256, at(0)), Some((2, ES256, at(1))));
        keys.push(key(2, at(1)));
        assert_eq!(next_due_key(&keys, RS256, at(28)), None);
        assert_eq!(next_due_key(&keys, RS256, at(29)), Some((3, RS256, at(30))));
        keys.push(rs256(3, at(30)));
        assert_eq!(next_due_key(&keys, RS256, at(30)), Some((4, ES256, at(31))));
        keys.push(key(4, at(31)));

        let kept =
            [(30, vec![1, 2, 3, 4]), (31, vec![2, 3, 4]), (32, vec![3, 4]), (400, vec![3, 4])];
        for (day, want) in kept {
            assert_eq!(believed(&keys, RS256, day), want, "{day}");
        }
        // The other algorithm is not configured any more; its tokens stay valid for a while.
        assert_eq!(believed(&keys, ES256, 60), [3, 4]);
        assert_eq!(believed(&keys, ES256, 61), [4]);
    }

    proptest! {
        // At any sequence of times there is a key that signs, and its tokens are accepted for the life of a token.
        #[test]
        fn there_is_always_a_key(steps in prop::collection::vec(1_i64..40 * 24, 1..40)) {
            let hour = |hour: i64| Timestamp::from_second(START + hour * 60 * 60).unwrap();
            let (mut keys, mut now) = (Vec::new(), 0);
            for step in steps {
                if let Some((number, _, used_from)) = next_due_key(&keys, ES256, hour(now)) {
                    prop_assert!(
                        keys.is_empty() || used_from >= add_span(hour(now), SIGNING_KEY_KNOWN_BEFORE)
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
