//! Refusal: a no of Discord's, without its words.

use std::fmt;
use std::time::Duration;

use http::HeaderMap;
use http::header::RETRY_AFTER;
use reqwest::StatusCode;
use serde::Deserialize;

/// What a rate limit without a time means, ...
const RETRY_AFTER_DEFAULT: Duration = Duration::from_secs(1);

/// ... and the longest that is believed.
const RETRY_AFTER_MAX: Duration = Duration::from_hours(1);

/// What is not there any more.
pub(crate) const UNKNOWN_MESSAGE: u32 = 10_008;

/// Codes of what was lent to us and is not good any more: an unknown webhook or interaction, and a token that is
/// none.
const GONE: [u32; 3] = [10_015, 10_062, 50_027];

/// A no of Discord's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) status: StatusCode,
    /// Discord's number for the reason, if it gave one.
    pub(crate) code: Option<u32>,
    /// After how long it may be tried again, if it was too often.
    pub(crate) retry_after: Duration,
    /// Whether that is true of all calls.
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
    /// Reads a no. Whoever stands between us and Discord may have said it in other words.
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

    /// Discord's number for it, or else the status.
    pub(crate) fn word(&self) -> String {
        self.code.map_or_else(|| self.status.as_u16().to_string(), |code| code.to_string())
    }

    /// Whether this is the reason.
    pub(crate) fn is(&self, code: u32) -> bool {
        self.code == Some(code)
    }

    /// Whether what was lent to us is not good any more.
    pub(crate) fn is_gone(&self) -> bool {
        let is_known = self.code.is_some_and(|code| GONE.contains(&code));
        is_known || matches!(self.status, StatusCode::UNAUTHORIZED | StatusCode::NOT_FOUND)
    }
}

/// So many seconds, within reason.
pub(super) fn span(secs: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(secs).ok().map(|span| span.min(RETRY_AFTER_MAX))
}
