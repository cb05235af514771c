//! The decision between waking an agent, only delivering to it, and parking, by the rate of an event's author.
//!
//! An author is counted for each agent. The desk decides before the accept and counts after it, and only events that
//! were stored: a duplicate, and a retry of an event that could not be stored, cost the author nothing. Events that
//! are decided before earlier ones are counted may exceed a limit by [`AUTHOR_OVERSHOOT_MAX`], and count all the same.
//!
//! [`AUTHOR_OVERSHOOT_MAX`]: nightdesk_types::limits::AUTHOR_OVERSHOOT_MAX

use std::num::NonZeroU32;
use std::time::Duration;

use nightdesk_types::Moment;
use nightdesk_types::limits::AUTHOR_PARK_FACTOR;
use nightdesk_types::rate_limit::{Bucket, Rate, RateState};

/// The treatment of an event at one of its recipients.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum AuthorPace {
    /// The author is within the limit.
    #[default]
    Deliver,
    /// The author is over the limit: the entry is stored in order and handed over, and wakes no agent.
    DeliverWithoutWake,
    /// The author is over [`AUTHOR_PARK_FACTOR`] times the limit: the entry is parked.
    Park,
}

nightdesk_types::slugs! {
    AuthorPace:
    Deliver = "deliver",
    DeliverWithoutWake = "deliver-without-wake",
    Park = "park",
}

/// The rates of one author's messages to one agent: in ten seconds, and in a minute.
#[derive(Clone, Copy, Debug)]
pub struct AuthorRates {
    /// The rates of messages that wake the agent.
    waking: [Rate; 2],
    /// The rates of messages that are delivered.
    delivered: [Rate; 2],
}

impl AuthorRates {
    /// Returns the rates for a limit per minute, of which two thirds may come in ten seconds.
    pub fn per_minute(per_minute: NonZeroU32) -> Self {
        let in_ten_seconds = (per_minute.get() / 3).saturating_mul(2).max(1);
        let rates = |factor: u32| {
            [
                Rate::per(Duration::from_secs(10), in_ten_seconds.saturating_mul(factor)),
                Rate::per(Duration::from_mins(1), per_minute.get().saturating_mul(factor)),
            ]
        };
        Self { waking: rates(1), delivered: rates(AUTHOR_PARK_FACTOR) }
    }

    /// Returns the share of one of `nodes` nodes that hear the same author.
    #[must_use]
    pub fn divided_by(self, nodes: u32) -> Self {
        Self {
            waking: self.waking.map(|rate| rate.divided_by(nodes)),
            delivered: self.delivered.map(|rate| rate.divided_by(nodes)),
        }
    }
}

/// The count of one author's stored messages to one agent.
#[derive(Clone, Copy, Debug, Default)]
pub struct AuthorCount {
    waking: [Bucket; 2],
    delivered: [Bucket; 2],
}

impl AuthorCount {
    /// Decides on the next message, without counting it.
    pub fn pace(&self, rates: &AuthorRates, now: Moment) -> AuthorPace {
        if !is_within(&self.delivered, &rates.delivered, now) {
            AuthorPace::Park
        } else if !is_within(&self.waking, &rates.waking, now) {
            AuthorPace::DeliverWithoutWake
        } else {
            AuthorPace::Deliver
        }
    }

    /// Counts a message that was stored. A message counts against the rates that it was within, so an author who goes
    /// on above a limit is delivered, and wakes, as often as the limit allows.
    pub fn count(&mut self, pace: AuthorPace, rates: &AuthorRates, now: Moment) {
        match pace {
            AuthorPace::Deliver => {
                take(&mut self.waking, &rates.waking, now);
                take(&mut self.delivered, &rates.delivered, now);
            }
            AuthorPace::DeliverWithoutWake => take(&mut self.delivered, &rates.delivered, now),
            AuthorPace::Park => {}
        }
    }
}

impl RateState for AuthorCount {
    fn is_free(&self, now: Moment) -> bool {
        self.waking.iter().chain(&self.delivered).all(|bucket| bucket.is_free(now))
    }
}

fn is_within(buckets: &[Bucket; 2], rates: &[Rate; 2], now: Moment) -> bool {
    buckets.iter().zip(rates).all(|(bucket, rate)| bucket.wait(*rate, now).is_zero())
}

fn take(buckets: &mut [Bucket; 2], rates: &[Rate; 2], now: Moment) {
    for (bucket, rate) in buckets.iter_mut().zip(rates) {
        bucket.take(*rate, now);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use proptest::prelude::*;

    use super::*;

    const LIMIT: NonZeroU32 = NonZeroU32::new(30).expect("thirty is not zero");

    fn at(millis: u64) -> Moment {
        Moment::after_start(Duration::from_millis(millis))
    }

    /// Sends one message at each time, and returns the decisions.
    fn paces(rates: &AuthorRates, times: impl IntoIterator<Item = u64>) -> Vec<AuthorPace> {
        let mut count = AuthorCount::default();
        let mut send = |millis| {
            let pace = count.pace(rates, at(millis));
            count.count(pace, rates, at(millis));
            pace
        };
        times.into_iter().map(&mut send).collect()
    }

    fn number_of(pace: AuthorPace, paces: &[AuthorPace]) -> usize {
        paces.iter().filter(|one| **one == pace).count()
    }

    #[test]
    fn a_burst_wakes_up_to_the_limit_and_is_delivered_up_to_ten_times_the_limit() {
        let paces = paces(&AuthorRates::per_minute(LIMIT), vec![0; 1_000]);

        assert_eq!(number_of(AuthorPace::Deliver, &paces), 20);
        assert_eq!(number_of(AuthorPace::DeliverWithoutWake, &paces), 180);
        assert_eq!(number_of(AuthorPace::Park, &paces), 800);
        assert!(paces.is_sorted(), "the first ones wake, the last ones are parked");
    }

    #[test]
    fn an_album_of_ten_photos_is_within_the_limit() {
        assert_eq!(paces(&AuthorRates::per_minute(LIMIT), [0; 10]), [AuthorPace::Deliver; 10]);
    }

    #[test]
    fn an_author_who_goes_on_over_the_limit_still_wakes_at_its_rate() {
        let three_a_second = (0..10 * 60 * 3).map(|nth| nth * 1_000 / 3);
        let paces = paces(&AuthorRates::per_minute(LIMIT), three_a_second);

        let woken = number_of(AuthorPace::Deliver, &paces);
        assert!((290..=330).contains(&woken), "{woken} in ten minutes");
        assert_eq!(number_of(AuthorPace::Park, &paces), 0);
    }

    #[test]
    fn an_author_who_rests_for_a_minute_is_free() {
        let rates = AuthorRates::per_minute(LIMIT);
        let mut count = AuthorCount::default();
        for _ in 0..1_000 {
            count.count(count.pace(&rates, at(0)), &rates, at(0));
        }

        assert!(!count.is_free(at(39_000)), "the burst of ten seconds is two thirds of a minute's");
        assert!(count.is_free(at(60_000)));
        assert_eq!(count.pace(&rates, at(60_000)), AuthorPace::Deliver);
    }

    /// Returns the largest number of messages with at most this pace in a window of this length.
    fn most_in(window: u64, sent: &[(u64, AuthorPace)], pace: AuthorPace) -> usize {
        let times: Vec<u64> =
            sent.iter().filter(|(_, one)| *one <= pace).map(|(at, _)| *at).collect();
        let within =
            |from: &u64| times.iter().filter(|at| (*from..from + window).contains(*at)).count();
        times.iter().map(within).max().unwrap_or(0)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        /// Q17. In any minute an author wakes an agent at most twice the limit (a full burst, and the rate after it), and
        /// has at most ten times as many messages delivered; three nodes together no more than one. Messages that are
        /// decided before earlier ones were counted exceed this by as many as wait for their count at once.
        #[test]
        fn no_window_exceeds_the_limits_by_more_than_the_uncounted(
            limit in 3_u32..12,
            nodes in 1_usize..4,
            uncounted_max in 0_usize..6,
            steps in prop::collection::vec((0_u64..400, 0_usize..3), 1..400),
        ) {
            let rates = AuthorRates::per_minute(NonZeroU32::new(limit).unwrap())
                .divided_by(u32::try_from(nodes).unwrap());
            let mut counts = [AuthorCount::default(); 3];
            let mut uncounted: [VecDeque<AuthorPace>; 3] = Default::default();
            let (mut now, mut sent) = (1_000_000, Vec::new());
            for (millis, node) in steps {
                now += millis;
                let node = node % nodes;
                let pace = counts[node].pace(&rates, at(now));
                sent.push((now, pace));
                uncounted[node].push_back(pace);
                while uncounted[node].len() > uncounted_max {
                    let pace = uncounted[node].pop_front().unwrap();
                    counts[node].count(pace, &rates, at(now));
                }
            }
            let limit = usize::try_from(limit).unwrap();
            let factor = usize::try_from(AUTHOR_PARK_FACTOR).unwrap();
            let over = nodes * uncounted_max;
            prop_assert!(most_in(60_000, &sent, AuthorPace::Deliver) <= 2 * limit + over);
            let delivered = most_in(60_000, &sent, AuthorPace::DeliverWithoutWake);
            prop_assert!(delivered <= 2 * limit * factor + over);
        }

        /// An author who keeps to the rate of one node's share always wakes the agent.
        #[test]
        fn within_the_limit_every_message_wakes(
            nodes in 1_u32..4,
            rests in prop::collection::vec(0_u64..5_000, 1..100),
        ) {
            let rates = AuthorRates::per_minute(LIMIT).divided_by(nodes);
            let mut now = 0;
            let times = rests.into_iter().map(|rest| {
                now += u64::from(nodes) * 2_000 + rest;
                now
            });
            prop_assert!(paces(&rates, times).iter().all(|pace| *pace == AuthorPace::Deliver));
        }

        /// A decision counts nothing: however often an event is tried, the next one is decided alike.
        #[test]
        fn tries_that_are_not_stored_cost_nothing(stored in 0_usize..300, tries in 1_usize..100) {
            let rates = AuthorRates::per_minute(LIMIT);
            let mut count = AuthorCount::default();
            for _ in 0..stored {
                count.count(count.pace(&rates, at(0)), &rates, at(0));
            }
            let first = count.pace(&rates, at(0));
            prop_assert!((0..tries).all(|_| count.pace(&rates, at(0)) == first));
        }
    }
}
