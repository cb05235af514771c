//! Reads a refusal by Discord, without its text.

use std::time::Duration;

use http::header::RETRY_AFTER;
use nightdesk_kit::{PlatformRefusal, PlatformResponse};
use reqwest::StatusCode;
use serde::Deserialize;

/// Maximum retry delay that is accepted.
const RETRY_AFTER_MAX: Duration = Duration::from_hours(1);

/// Code for a message that no longer exists.
pub(crate) const UNKNOWN_MESSAGE: &str = "10008";

/// Codes of an expired capability: unknown webhook, unknown interaction, and invalid token.
pub(crate) const GONE: [&str; 3] = ["10015", "10062", "50027"];

#[derive(Default, Deserialize)]
#[serde(default)]
struct DiscordErrorBody {
    code: Option<u32>,
    retry_after: Option<f64>,
    global: bool,
}

/// Parses a refusal. A proxy between the desk and Discord may have sent it in another format.
pub(super) fn parse_refusal(reply: &PlatformResponse) -> PlatformRefusal {
    let PlatformResponse { status, headers, body } = reply;
    let denial: DiscordErrorBody = serde_json::from_slice(body).unwrap_or_default();
    let in_header = headers.get(RETRY_AFTER).and_then(|after| after.to_str().ok()?.parse().ok());
    let retry_after = denial.retry_after.or(in_header).and_then(span);
    let code = match *status {
        StatusCode::PAYLOAD_TOO_LARGE => Some("file_too_large".to_owned()),
        _ => denial.code.filter(|code| *code != 0).map(|code| code.to_string()),
    };
    let is_global = denial.global || headers.contains_key("x-ratelimit-global");
    PlatformRefusal { is_global, ..PlatformRefusal::new(*status, code, retry_after) }
}

/// Converts seconds to a duration of at most [`RETRY_AFTER_MAX`].
pub(super) fn span(secs: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(secs).ok().map(|span| span.min(RETRY_AFTER_MAX))
}
