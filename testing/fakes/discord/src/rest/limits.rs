//! Counts the calls of buckets, and returns their rate-limit headers.

use std::collections::BTreeMap;
use std::time::Duration;

use nightdesk_types::Timestamp;

use crate::settings::Settings;

/// The current windows, by token, route and resource.
#[derive(Debug, Default)]
pub(crate) struct Buckets(BTreeMap<(String, String, String), Window>);

#[derive(Clone, Copy, Debug)]
struct Window {
    began: Duration,
    calls: u32,
}

/// The state of a call's bucket.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Limit {
    pub(crate) name: String,
    pub(crate) calls_max: u32,
    pub(crate) remaining: u32,
    pub(crate) reset_after: Duration,
    /// The reset time by the wall clock, in seconds.
    pub(crate) reset: String,
    pub(crate) is_over: bool,
}

impl Buckets {
    /// Counts a call, or refuses it if there are too many. A channel, a guild and a webhook each have their own
    /// windows.
    pub(crate) fn count(
        &mut self,
        (token, route, path): (&str, &str, &[&str]),
        (now, wall): (Duration, Timestamp),
        settings: &Settings,
    ) -> Limit {
        let about = path.get(1).copied().unwrap_or_default();
        let key = (token.to_owned(), route.to_owned(), about.to_owned());
        let fresh = Window { began: now, calls: 0 };
        let window = self.0.entry(key).or_insert(fresh);
        if now.saturating_sub(window.began) >= settings.bucket_window {
            *window = fresh;
        }
        let is_over = window.calls >= settings.bucket_calls;
        if !is_over {
            window.calls += 1;
        }
        let reset_after = (window.began + settings.bucket_window).saturating_sub(now);
        let reset = wall.checked_add(reset_after).unwrap_or(wall).as_millisecond();
        Limit {
            name: name(route),
            calls_max: settings.bucket_calls,
            remaining: settings.bucket_calls.saturating_sub(window.calls),
            reset_after,
            reset: format!("{}.{:03}", reset / 1_000, reset % 1_000),
            is_over,
        }
    }
}

/// Returns an opaque name, like Discord's.
fn name(route: &str) -> String {
    let mix = |sum: u64, byte: u8| sum.wrapping_mul(0x0100_0000_01b3) ^ u64::from(byte);
    format!("{:016x}", route.bytes().fold(0xcbf2_9ce4_8422_2325, mix))
}
