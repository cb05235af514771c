//! The rate at which dials become lines.
//!
//! When a node dies, its clients reconnect at the same time: the stock client uses fixed retry delays without jitter.
//! Each dial gets a place in order of arrival. A dial that would wait longer than a client does gets a retry response.
//! Only known gateways get places, so that other callers cannot use them up.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use nightdesk_types::Moment;
use nightdesk_types::limits::{DIAL_ADMITTED_WITHIN, DIALS_BURST, DIALS_PER_SECOND};
use nightdesk_types::rate_limit::{Bucket, Rate};

/// The rate with a burst for the unused capacity of the last moments.
const RATE: Rate = Rate::per_second(DIALS_PER_SECOND, DIALS_BURST + 1);

/// Assigns places to dials.
#[derive(Debug, Default)]
pub(crate) struct DialAdmission(Mutex<Bucket>);

impl DialAdmission {
    /// Reserves a place for a dial that came at `arrived` and returns the wait from now. `None`: the wait is too long.
    pub(crate) fn reserve_place(&self, arrived: Moment, now: Moment) -> Option<Duration> {
        let mut places = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let wait = places.wait(RATE, now);
        if (now + wait).since(arrived) > DIAL_ADMITTED_WITHIN {
            return None;
        }
        places.take(RATE, now);
        Some(wait)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);
    const STEP: Duration = Duration::from_nanos(1_000_000_000 / DIALS_PER_SECOND as u64);

    fn at(millis: u64) -> Moment {
        Moment::after_start(Duration::from_millis(millis))
    }

    /// Returns the wait of each of `dials` dials that come at the same time.
    fn herd(admission: &DialAdmission, dials: u32, now: Moment) -> Vec<Option<Duration>> {
        (0..dials).map(|_| admission.reserve_place(now, now)).collect()
    }

    #[test]
    fn a_few_dials_wait_for_nothing() {
        let admission = DialAdmission::default();

        for now in [at(5_000), at(60_000)] {
            let waits = herd(&admission, DIALS_BURST + 1, now);
            assert!(waits.iter().all(|wait| *wait == Some(Duration::ZERO)), "{waits:?}");
        }
    }

    #[test]
    fn a_herd_comes_in_at_its_rate() {
        let admission = DialAdmission::default();
        let waits = herd(&admission, 4 * DIALS_PER_SECOND, at(60_000));

        for second in 0..3 {
            let within =
                |wait: &Duration| *wait > second * SECOND && *wait <= (second + 1) * SECOND;
            let came = waits.iter().flatten().filter(|wait| within(wait)).count();
            assert_eq!(came, DIALS_PER_SECOND as usize, "second {second}");
        }
    }

    #[test]
    fn who_would_wait_for_too_long_takes_no_place() {
        let admission = DialAdmission::default();
        let waits = herd(&admission, 100 * DIALS_PER_SECOND, at(60_000));

        let last = waits.iter().flatten().max().copied();
        assert_eq!(last, Some(DIAL_ADMITTED_WITHIN));
        assert!(waits.last().is_some_and(Option::is_none));
        let later = at(60_000 + 1_000);
        let waits = admission.reserve_place(later, later).map(|waits| waits + SECOND);
        assert_eq!(waits, Some(DIAL_ADMITTED_WITHIN + STEP));
    }

    #[test]
    fn what_a_dial_has_waited_before_counts() {
        let admission = DialAdmission::default();
        herd(&admission, DIALS_BURST + 1 + DIALS_PER_SECOND, at(60_000));

        let waited = DIAL_ADMITTED_WITHIN.as_millis().try_into().unwrap_or(0);
        assert_eq!(admission.reserve_place(at(60_000 - waited), at(60_000)), None);
        assert_eq!(admission.reserve_place(at(60_000), at(60_000)), Some(SECOND + STEP));
    }
}
