//! Holds back calls that would exceed a rate limit that Discord reported.

use std::time::Duration;

use http::HeaderMap;
use nightdesk_kit::PlatformRefusal;
use nightdesk_types::rate_limit::RateLimiter;
use nightdesk_types::{BotId, Moment};
use reqwest::StatusCode;

use super::ApiCall;
use super::refusal::span;

/// Maximum number of call kinds that are held at once. Further calls are made, and Discord refuses them itself.
const HOLDS_MAX: usize = 10_000;

/// Stands for all calls of a bot.
const ALL: &str = "*";

/// The time until which calls of each kind are held.
#[derive(Debug)]
pub(super) struct RateLimitHolds(RateLimiter<(Option<BotId>, String)>);

impl Default for RateLimitHolds {
    fn default() -> Self {
        Self(RateLimiter::new(HOLDS_MAX))
    }
}

impl RateLimitHolds {
    /// Returns the remaining time that a call is held.
    pub(super) fn remaining_hold(
        &self,
        bot: Option<BotId>,
        call: &ApiCall,
        now: Moment,
    ) -> Option<Duration> {
        let held = |kind: String| self.0.bucket(&(bot, kind)).busy(now);
        let held = held(rate_limit_group(call)).max(held(ALL.to_owned()));
        (!held.is_zero()).then_some(held)
    }

    /// Holds back the calls that a rate limit covers.
    pub(super) fn record_limit(&self, bot: Option<BotId>, limit: Option<RateLimit>, now: Moment) {
        let Some(RateLimit { kind, held_for }) = limit else { return };
        self.0.change((bot, kind), now, |bucket| bucket.hold(now + held_for));
    }
}

/// A rate limit that Discord reported.
#[derive(Debug)]
pub(super) struct RateLimit {
    kind: String,
    held_for: Duration,
}

impl RateLimit {
    /// Reads the rate limit in a response: no calls are left, or this call was one too many.
    pub(super) fn read(
        call: &ApiCall,
        headers: &HeaderMap,
        refusal: Option<&PlatformRefusal>,
    ) -> Option<Self> {
        match refusal.filter(|no| no.status == StatusCode::TOO_MANY_REQUESTS) {
            Some(no) if no.is_global => {
                Some(Self { kind: ALL.to_owned(), held_for: no.retry_after })
            }
            Some(no) => Some(Self { kind: rate_limit_group(call), held_for: no.retry_after }),
            None => used_up_delay(headers)
                .map(|held_for| Self { kind: rate_limit_group(call), held_for }),
        }
    }
}

fn used_up_delay(headers: &HeaderMap) -> Option<Duration> {
    let text = |name| headers.get(name).and_then(|value: &http::HeaderValue| value.to_str().ok());
    let is_used_up = text("x-ratelimit-remaining") == Some("0");
    let after = text("x-ratelimit-reset-after").filter(|_| is_used_up)?;
    span(after.parse().ok()?)
}

/// Returns the rate-limit group of a call: the same operation in the same channel, for any message.
fn rate_limit_group(call: &ApiCall) -> String {
    let path = call.path.split('?').next().unwrap_or_default();
    let mut parts = path.split('/');
    let first: Vec<&str> = parts.by_ref().take(2).collect();
    let is_word = |part: &&str| part.starts_with(|c: char| c.is_ascii_lowercase());
    let rest: Vec<&str> = parts.filter(is_word).take(3).collect();
    format!("{} {} {}", call.method, first.join("/"), rest.join("/"))
}
