//! Counts invalid tokens by address.
//!
//! Only failures count, and they change only the response to a further failure. A valid token is never refused because
//! of its address.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use nightdesk_types::Moment;
use nightdesk_types::limits::{
    FAILING_ADDRESSES_MAX, UPGRADE_FAILURES_BARRED, UPGRADE_FAILURES_MAX, UPGRADE_FAILURES_WINDOW,
};

/// Failures by address in the last minute.
#[derive(Debug, Default)]
pub struct TokenFailures {
    counts: Mutex<HashMap<IpAddr, (Moment, u32)>>,
    untold: AtomicU64,
}

impl TokenFailures {
    /// Returns the number of failures since the last call.
    pub fn take_unreported(&self) -> u64 {
        self.untold.swap(0, Ordering::Relaxed)
    }

    /// Counts a failure. Returns true if the address is still within its limit.
    pub fn count(&self, address: IpAddr, now: Moment) -> bool {
        self.untold.fetch_add(1, Ordering::Relaxed);
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let is_over = |(since, count): &(Moment, u32)| {
            let is_barred = *count > UPGRADE_FAILURES_MAX;
            let span = if is_barred { UPGRADE_FAILURES_BARRED } else { UPGRADE_FAILURES_WINDOW };
            now.since(*since) >= span
        };
        if counts.len() >= FAILING_ADDRESSES_MAX && !counts.contains_key(&address) {
            counts.retain(|_, counted| !is_over(counted));
            if counts.len() >= FAILING_ADDRESSES_MAX {
                return false;
            }
        }
        let counted = counts.entry(address).or_insert((now, 0));
        if is_over(counted) {
            *counted = (now, 0);
        }
        counted.1 = counted.1.saturating_add(1);
        counted.1 <= UPGRADE_FAILURES_MAX
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const ADDRESS: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

    fn at(secs: u64) -> Moment {
        Moment::after_start(Duration::from_secs(secs))
    }

    #[test]
    fn an_address_may_fail_up_to_its_limit() {
        let failures = TokenFailures::default();

        assert!((0..UPGRADE_FAILURES_MAX).all(|_| failures.count(ADDRESS, at(0))));
        assert!(failures.count(ADDRESS, at(60)), "a new minute");
        assert!((1..UPGRADE_FAILURES_MAX).all(|_| failures.count(ADDRESS, at(60))));
        let barred = UPGRADE_FAILURES_BARRED.as_secs();
        assert!(!failures.count(ADDRESS, at(60)) && !failures.count(ADDRESS, at(59 + barred)));
        assert!(failures.count(ADDRESS, at(60 + barred)), "a quarter of an hour later");
        assert_eq!(failures.take_unreported(), 2 * u64::from(UPGRADE_FAILURES_MAX) + 3);
        assert_eq!(failures.take_unreported(), 0, "each is told once");
    }

    #[test]
    fn the_table_of_addresses_has_a_bound() {
        let failures = TokenFailures::default();
        let address = |number: usize| IpAddr::V6((number as u128).into());

        assert!((0..FAILING_ADDRESSES_MAX).all(|number| failures.count(address(number), at(0))));
        assert!(!failures.count(address(FAILING_ADDRESSES_MAX), at(1)));
        assert!(failures.count(address(FAILING_ADDRESSES_MAX), at(61)), "old ones made room");
    }
}
