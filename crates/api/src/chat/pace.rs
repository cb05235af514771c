//! Pace: how fast a visitor may write, and how fast an address may bring new visitors.

use std::hash::Hash;
use std::net::{IpAddr, Ipv6Addr};
use std::num::NonZeroU32;
use std::time::Duration;

use governor::clock::{Clock, MonotonicClock};
use governor::middleware::NoOpMiddleware;
use governor::state::keyed::HashMapStateStore;
use governor::{Quota, RateLimiter};
use nightdesk_types::BotId;
use nightdesk_types::limits::{
    CHAT_MESSAGES_AT_ONCE, CHAT_MESSAGES_PER_MINUTE, CHAT_PACED_ADDRESSES_MAX,
    CHAT_PACED_VISITORS_MAX, CHAT_SESSIONS_PER_MINUTE,
};

/// How long who comes when there is no room even to count them is asked to wait.
const NO_ROOM_WAIT: Duration = Duration::from_secs(30);

/// Every pace of this node.
#[derive(Debug)]
pub(super) struct Pace {
    messages: Keyed<(BotId, String)>,
    sessions: Keyed<IpAddr>,
}

impl Default for Pace {
    fn default() -> Self {
        const MESSAGES: NonZeroU32 = NonZeroU32::new(CHAT_MESSAGES_PER_MINUTE).unwrap();
        const AT_ONCE: NonZeroU32 = NonZeroU32::new(CHAT_MESSAGES_AT_ONCE).unwrap();
        const SESSIONS: NonZeroU32 = NonZeroU32::new(CHAT_SESSIONS_PER_MINUTE).unwrap();
        let messages = Quota::per_minute(MESSAGES).allow_burst(AT_ONCE);
        Self {
            messages: Keyed::new(messages, CHAT_PACED_VISITORS_MAX),
            sessions: Keyed::new(Quota::per_minute(SESSIONS), CHAT_PACED_ADDRESSES_MAX),
        }
    }
}

impl Pace {
    /// Counts a message, or says how long to wait.
    pub(super) fn message(&self, bot: BotId, visitor: &str) -> Result<(), Duration> {
        self.messages.count(&(bot, visitor.to_owned()))
    }

    /// Counts a new visitor, or says how long to wait.
    pub(super) fn session(&self, from: IpAddr) -> Result<(), Duration> {
        self.sessions.count(&neighbourhood(from))
    }
}

/// One line has a whole /64 to come from.
fn neighbourhood(from: IpAddr) -> IpAddr {
    match from.to_canonical() {
        IpAddr::V6(v6) => IpAddr::V6(Ipv6Addr::from_bits(v6.to_bits() & !u128::from(u64::MAX))),
        v4 @ IpAddr::V4(_) => v4,
    }
}

type Limiter<K> =
    RateLimiter<K, HashMapStateStore<K>, MonotonicClock, NoOpMiddleware<std::time::Instant>>;

/// A pace for each of so many.
#[derive(Debug)]
struct Keyed<K: Hash + Eq + Clone> {
    limiter: Limiter<K>,
    keys_max: usize,
}

impl<K: Hash + Eq + Clone> Keyed<K> {
    fn new(quota: Quota, keys_max: usize) -> Self {
        let limiter = RateLimiter::new(quota, HashMapStateStore::default(), MonotonicClock);
        Self { limiter, keys_max }
    }

    fn count(&self, key: &K) -> Result<(), Duration> {
        if self.limiter.len() >= self.keys_max {
            // Those who rested long enough are as good as new.
            self.limiter.retain_recent();
            if self.limiter.len() >= self.keys_max {
                return Err(NO_ROOM_WAIT);
            }
        }
        let wait = |until: governor::NotUntil<_>| until.wait_time_from(MonotonicClock.now());
        self.limiter.check_key(key).map_err(wait)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn so_many_at_once_and_then_one_by_one() {
        let keyed = Keyed::new(Quota::per_minute(NonZeroU32::new(3).unwrap()), 10);
        assert!((0..3).all(|_| keyed.count(&"ann").is_ok()));

        let wait = keyed.count(&"ann").unwrap_err();
        assert!(wait > Duration::from_secs(15) && wait <= Duration::from_secs(20), "{wait:?}");
        assert!(keyed.count(&"bob").is_ok(), "another is not held up");
    }

    #[test]
    fn only_so_many_are_counted() {
        let keyed = Keyed::new(Quota::per_minute(NonZeroU32::new(1).unwrap()), 2);
        assert!(keyed.count(&"ann").is_ok() && keyed.count(&"bob").is_ok());

        assert_eq!(keyed.count(&"eve"), Err(NO_ROOM_WAIT));
    }

    #[test]
    fn addresses_of_one_line_are_one() {
        let of = |text: &str| neighbourhood(text.parse().unwrap());

        assert_eq!(of("2001:db8:1:2::1"), of("2001:db8:1:2:ffff::9"));
        assert_ne!(of("2001:db8:1:2::1"), of("2001:db8:1:3::1"));
        assert_eq!(of("::ffff:192.0.2.1"), of("192.0.2.1"));
        assert_ne!(of("192.0.2.1"), of("192.0.2.2"));
    }
}
