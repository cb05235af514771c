//! Implements `getUpdates`, which may wait.

use std::time::Duration;

use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use super::Shared;
use super::fault::Kind;
use super::methods::{Answered, refused};
use super::request::Asked;

const LIMIT_MAX: usize = 100;
const TIMEOUT_SECS_MAX: i64 = 50;

/// Returns updates as soon as there are any.
pub(super) async fn updates(
    shared: &Shared,
    token: &str,
    asked: &Asked,
    fault: Option<&Kind>,
) -> Answered {
    let mut changed = shared.changed.subscribe();
    let poll = begin(shared, token)?;
    let wait = asked.number("timeout").unwrap_or(0).clamp(0, TIMEOUT_SECS_MAX);
    let until = Instant::now() + Duration::from_secs(wait.unsigned_abs());
    loop {
        let updates = now(shared, token, asked, poll)?;
        if !updates.is_empty() {
            return Ok(told(shared, token, updates, fault));
        }
        if timeout_at(until, changed.changed()).await.is_err() {
            return Ok(Value::Array(Vec::new()));
        }
    }
}

/// Begins a poll, and ends the current one.
fn begin(shared: &Shared, token: &str) -> Result<u64, (u16, String)> {
    shared.change(|world| {
        let bot = world.bot_mut(token).ok_or_else(|| refused(401, "Unauthorized"))?;
        if bot.webhook.is_some() {
            return Err(refused(
                409,
                "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to \
                 delete the webhook first",
            ));
        }
        bot.polls += 1;
        Ok(bot.polls)
    })
}

fn now(
    shared: &Shared,
    token: &str,
    asked: &Asked,
    poll: u64,
) -> Result<Vec<Value>, (u16, String)> {
    let mut world = shared.world();
    let bot = world.bot_mut(token).ok_or_else(|| refused(401, "Unauthorized"))?;
    if bot.polls != poll {
        return Err(refused(
            409,
            "Conflict: terminated by other getUpdates request; make sure that only one bot instance \
             is running",
        ));
    }
    let limit = asked.number("limit").and_then(|limit| usize::try_from(limit).ok());
    let limit = limit.unwrap_or(LIMIT_MAX).clamp(1, LIMIT_MAX);
    Ok(bot.updates_from(asked.number("offset").unwrap_or(0), limit))
}

/// Returns the updates. With the fault `Repeat`, all confirmed updates come first.
fn told(shared: &Shared, token: &str, updates: Vec<Value>, fault: Option<&Kind>) -> Value {
    let world = shared.world();
    let old = world.bot(token).filter(|_| fault == Some(&Kind::Repeat));
    let old =
        old.into_iter().flat_map(|bot| bot.confirmed.iter().map(|(_, update)| update.clone()));
    old.chain(updates).collect()
}
