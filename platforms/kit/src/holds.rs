//! Holds back calls that would exceed a rate limit that a platform reported.

use std::time::Duration;

use nightdesk_types::rate_limit::RateLimiter;
use nightdesk_types::{BotId, Moment};

/// Maximum number of call kinds that are held at once. Further calls are made, and the platform refuses them itself.
const HOLDS_MAX: usize = 10_000;

/// Stands for all calls of a bot.
const ALL: &str = "*";

/// The time until which calls of each group are held.
#[derive(Debug)]
pub struct RateLimitHolds(RateLimiter<(Option<BotId>, String)>);

impl Default for RateLimitHolds {
    fn default() -> Self {
        Self(RateLimiter::new(HOLDS_MAX))
    }
}

impl RateLimitHolds {
    /// Returns the remaining time that the calls of a group are held.
    pub fn remaining_hold(
        &self,
        bot: Option<BotId>,
        group: String,
        now: Moment,
    ) -> Option<Duration> {
        let held = |group: String| self.0.bucket(&(bot, group)).busy(now);
        let held = held(group).max(held(ALL.to_owned()));
        (!held.is_zero()).then_some(held)
    }

    /// Holds back the calls that a rate limit covers.
    pub fn record_limit(&self, bot: Option<BotId>, limit: Option<RateLimit>, now: Moment) {
        let Some(RateLimit { group, held_for }) = limit else { return };
        self.0.change((bot, group), now, |bucket| bucket.hold(now + held_for));
    }
}

/// A rate limit that a platform reported.
#[derive(Debug)]
pub struct RateLimit {
    group: String,
    held_for: Duration,
}

impl RateLimit {
    /// Returns the limit of one group of calls.
    pub const fn of_group(group: String, held_for: Duration) -> Self {
        Self { group, held_for }
    }

    /// Returns the limit of all calls of a bot.
    pub fn of_all_calls(held_for: Duration) -> Self {
        Self { group: ALL.to_owned(), held_for }
    }
}
