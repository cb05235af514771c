//! Handles one call of the API, with its faults, its limits and its record.

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE, RETRY_AFTER, VIA};
use http::request::Parts;
use http::{HeaderName, HeaderValue, Response, StatusCode};
use http_body_util::Full;
use serde_json::Value;
use tokio::time::sleep;

use super::Shared;
use super::fault::{Kind, at_call};
use super::request::Asked;
use super::rest::limits::Limit;
use super::rest::{self, Answered, Call, Refusal};
use super::serve::{Answer, HungUp, page};
use super::world::{Called, World};

pub(super) async fn answer(
    shared: &Shared,
    head: &Parts,
    path: &[&str],
    asked: Option<Asked>,
) -> Answer {
    let method = head.method.as_str();
    let route = rest::route(method, path);
    let token = token(head);
    let fault = at_call(&mut shared.world().faults, &route);
    match fault {
        Some(Kind::HangUp) => return Err(HungUp),
        Some(Kind::Slow(span)) => sleep(span).await,
        Some(Kind::Garbage) => return Ok(page(StatusCode::OK, Bytes::from("<html>no</html>"))),
        _ => {}
    }
    let (limit, answered) =
        shared.change(|world| done(world, (method, path, token), asked, fault.as_ref()));
    if fault == Some(Kind::DoAndHangUp) {
        return Err(HungUp);
    }
    Ok(written(answered, &limit))
}

/// Counts a call, executes it unless it is refused, and records it.
fn done(
    world: &mut World,
    (method, path, token): (&str, &[&str], &str),
    asked: Option<Asked>,
    fault: Option<&Kind>,
) -> (Limit, (u16, Value)) {
    let (route, at, settings) = (rest::route(method, path), world.now(), world.settings.clone());
    let times = (at, world.wall());
    let limit = world.buckets.count((token, &route, path), times, &settings);
    let is_readable = asked.is_some();
    let asked = asked.unwrap_or_default();
    let answered = match refusal(fault, &limit) {
        Some(refusal) => Err(refusal),
        None if is_readable => rest::answer(world, Call { method, path, token, asked: &asked }),
        None => Err(Refusal::of(400, 50_109, "The request body contains invalid JSON.")),
    };
    let answered = said(answered);
    world.calls.push(Called {
        at,
        token: token.to_owned(),
        route,
        path: format!("/{}", path.join("/")),
        asked: asked.told(),
        answered: answered.clone(),
    });
    (limit, answered)
}

fn token(head: &Parts) -> &str {
    let shown = head.headers.get(AUTHORIZATION).and_then(|shown| shown.to_str().ok());
    shown.and_then(|shown| shown.strip_prefix("Bot ")).unwrap_or_default()
}

/// Returns the refusal of a call before it is executed.
fn refusal(fault: Option<&Kind>, limit: &Limit) -> Option<Refusal> {
    match fault {
        Some(Kind::Refuse { status, code }) => {
            Some(Refusal::of(*status, *code, "refused on command"))
        }
        Some(Kind::TooMany { retry_after, global }) => {
            Some(Refusal::too_many(*retry_after, *global))
        }
        _ if limit.is_over => Some(Refusal::too_many(limit.reset_after.as_secs_f64(), false)),
        _ => None,
    }
}

fn said(answered: Answered) -> (u16, Value) {
    answered.unwrap_or_else(|refusal| (refusal.status, refusal.body))
}

fn written((status, body): (u16, Value), limit: &Limit) -> Response<Full<Bytes>> {
    let text = if status == 204 { String::new() } else { body.to_string() };
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_REQUEST);
    let mut response = page(status, Bytes::from(text));
    let mut say = |name: HeaderName, value: &str| {
        if let Ok(value) = HeaderValue::from_str(value) {
            response.headers_mut().insert(name, value);
        }
    };
    if status != StatusCode::NO_CONTENT {
        say(CONTENT_TYPE, "application/json");
    }
    // Clients know that a response without this header was stopped before it reached Discord.
    say(VIA, "1.1 fake");
    let named = HeaderName::from_static;
    say(named("x-ratelimit-limit"), &limit.calls_max.to_string());
    say(named("x-ratelimit-remaining"), &limit.remaining.to_string());
    say(named("x-ratelimit-reset"), &limit.reset);
    say(named("x-ratelimit-reset-after"), &format!("{:.3}", limit.reset_after.as_secs_f64()));
    say(named("x-ratelimit-bucket"), &limit.name);
    if let Some(wait) = body["retry_after"].as_f64().filter(|_| status == 429) {
        let global = body["global"] == true;
        say(RETRY_AFTER, &format!("{:.0}", wait.ceil()));
        say(named("x-ratelimit-scope"), if global { "global" } else { "user" });
        if global {
            say(named("x-ratelimit-global"), "true");
        }
    }
    response
}
