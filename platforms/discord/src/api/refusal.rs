//! A refusal by Discord, without its text.

use std::fmt;
use std::time::Duration;

use http::HeaderMap;
use http::header::RETRY_AFTER;
use reqwest::StatusCode;
use serde::Deserialize;

/// Retry delay of a rate limit without a time.
const RETRY_AFTER_DEFAULT: Duration = Duration::from_secs(1);

/// Maximum retry delay that is accepted.
const RETRY_AFTER_MAX: Duration = Duration::from_hours(1);

/// Code for a message that no longer exists.
pub(crate) const UNKNOWN_MESSAGE: u32 = 10_008;

/// Codes of an expired capability: unknown webhook, unknown interaction, and invalid token.
const GONE: [u32; 3] = [10_015, 10_062, 50_027];

/// A refusal by Discord.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) status: StatusCode,
    /// Discord's error code, if there is one.
    pub(crate) code: Option<u32>,
    /// Retry delay, if the call was rate limited.
    pub(crate) retry_after: Duration,
    /// True if the rate limit applies to all calls.
    pub(crate) is_global: bool,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.word())
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Said {
    code: Option<u32>,
    retry_after: Option<f64>,
    global: bool,
}

impl Refusal {
    /// Parses a refusal. A proxy between the desk and Discord may have sent it in another format.
    pub(super) fn read(status: StatusCode, headers: &HeaderMap, body: &[u8]) -> Self {
        let said: Said = serde_json::from_slice(body).unwrap_or_default();
        let in_header =
            headers.get(RETRY_AFTER).and_then(|after| after.to_str().ok()?.parse().ok());
        let retry_after = said.retry_after.or(in_header).and_then(span);
        Self {
            status,
            code: said.code.filter(|code| *code != 0),
            retry_after: retry_after.unwrap_or(RETRY_AFTER_DEFAULT),
            is_global: said.global || headers.contains_key("x-ratelimit-global"),
        }
    }

    /// Returns Discord's error code, or the HTTP status without one.
    pub(crate) fn word(&self) -> String {
        self.code.map_or_else(|| self.status.as_u16().to_string(), |code| code.to_string())
    }

    /// Returns true if the refusal has this code.
    pub(crate) fn is(&self, code: u32) -> bool {
        self.code == Some(code)
    }

    /// Returns true if the capability is no longer valid.
    pub(crate) fn is_gone(&self) -> bool {
        let is_known = self.code.is_some_and(|code| GONE.contains(&code));
        is_known || matches!(self.status, StatusCode::UNAUTHORIZED | StatusCode::NOT_FOUND)
    }
}

/// Converts seconds to a duration of at most [`RETRY_AFTER_MAX`].
pub(super) fn span(secs: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(secs).ok().map(|span| span.min(RETRY_AFTER_MAX))
}
