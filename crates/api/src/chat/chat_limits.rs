//! Rate limits of visitors and of the addresses that bring new ones.

use std::net::IpAddr;
use std::time::Duration;

use nightdesk_types::limits::{
    CHAT_MESSAGES_AT_ONCE, CHAT_MESSAGES_PER_MINUTE, CHAT_PACED_ADDRESSES_MAX,
    CHAT_PACED_VISITORS_MAX, CHAT_SESSIONS_PER_MINUTE,
};
use nightdesk_types::rate_limit::{Rate, RateLimiter, neighbourhood};
use nightdesk_types::{BotId, Clock, SystemClock};

const MINUTE: Duration = Duration::from_mins(1);
const MESSAGES: Rate =
    Rate::per(MINUTE, CHAT_MESSAGES_PER_MINUTE).with_burst(CHAT_MESSAGES_AT_ONCE);
const SESSIONS: Rate = Rate::per(MINUTE, CHAT_SESSIONS_PER_MINUTE);

/// The rate limits of this node.
#[derive(Debug)]
pub(super) struct ChatLimits {
    messages: RateLimiter<(BotId, String)>,
    sessions: RateLimiter<IpAddr>,
    clock: SystemClock,
}

impl Default for ChatLimits {
    fn default() -> Self {
        Self {
            messages: RateLimiter::new(CHAT_PACED_VISITORS_MAX),
            sessions: RateLimiter::new(CHAT_PACED_ADDRESSES_MAX),
            clock: SystemClock::start(),
        }
    }
}

impl ChatLimits {
    /// Counts a message. An error is the time to wait.
    pub(super) fn message(&self, bot: BotId, visitor: &str) -> Result<(), Duration> {
        self.messages.take((bot, visitor.to_owned()), MESSAGES, self.clock.moment())
    }

    /// Counts a new visitor. An error is the time to wait.
    pub(super) fn session(&self, from: IpAddr) -> Result<(), Duration> {
        self.sessions.take(neighbourhood(from), SESSIONS, self.clock.moment())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_one_line_are_one() {
        let of = |text: &str| neighbourhood(text.parse().unwrap());

        assert_eq!(of("2001:db8:1:2::1"), of("2001:db8:1:2:ffff::9"));
        assert_ne!(of("2001:db8:1:2::1"), of("2001:db8:1:3::1"));
        assert_eq!(of("::ffff:192.0.2.1"), of("192.0.2.1"));
        assert_ne!(of("192.0.2.1"), of("192.0.2.2"));
    }
}
