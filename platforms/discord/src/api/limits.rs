//! Reads the rate limits that Discord reports.

use std::time::Duration;

use http::HeaderMap;
use nightdesk_kit::{PlatformRefusal, RateLimit};
use reqwest::StatusCode;

use super::ApiCall;
use super::refusal::span;

/// Reads the rate limit in a response: no calls are left, or this call was one too many.
pub(super) fn read_limit(
    call: &ApiCall,
    headers: &HeaderMap,
    refusal: Option<&PlatformRefusal>,
) -> Option<RateLimit> {
    match refusal.filter(|no| no.status == StatusCode::TOO_MANY_REQUESTS) {
        Some(no) if no.is_global => Some(RateLimit::of_all_calls(no.retry_after)),
        Some(no) => Some(RateLimit::of_group(rate_limit_group(call), no.retry_after)),
        None => used_up_delay(headers)
            .map(|held_for| RateLimit::of_group(rate_limit_group(call), held_for)),
    }
}

fn used_up_delay(headers: &HeaderMap) -> Option<Duration> {
    let text = |name| headers.get(name).and_then(|value: &http::HeaderValue| value.to_str().ok());
    let is_used_up = text("x-ratelimit-remaining") == Some("0");
    let after = text("x-ratelimit-reset-after").filter(|_| is_used_up)?;
    span(after.parse().ok()?)
}

/// Returns the rate-limit group of a call: the same operation in the same channel, for any message.
pub(super) fn rate_limit_group(call: &ApiCall) -> String {
    let path = call.path.split('?').next().unwrap_or_default();
    let mut parts = path.split('/');
    let first: Vec<&str> = parts.by_ref().take(2).collect();
    let is_word = |part: &&str| part.starts_with(|c: char| c.is_ascii_lowercase());
    let rest: Vec<&str> = parts.filter(is_word).take(3).collect();
    format!("{} {} {}", call.method, first.join("/"), rest.join("/"))
}
