//! Requests updates from Telegram by long polling.
//!
//! A cursor is the number of the next update and the time of the previous one. A request for a number confirms all
//! earlier updates, so it is always the one after the last stored update.

use std::time::Duration;

use async_trait::async_trait;
use nightdesk_kit::PlatformCallError;
use nightdesk_port::{Bot, Listen, ListenError, PlatformEvent};
use nightdesk_types::Timestamp;
use nightdesk_types::limits::LISTEN_CALL_MAX;
use reqwest::StatusCode;
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

use crate::Telegram;
use crate::events::convert_update;

/// Time that Telegram waits for the first update.
const POLL_FOR: Duration = Duration::from_secs(25);

/// Time limit of a poll request.
const POLL_WAIT: Duration = LISTEN_CALL_MAX;

/// Maximum updates per request.
const UPDATES_MAX: usize = 50;

/// The update types that the adapter requests: those it converts, and those about the bot's membership.
pub(crate) const KINDS: [&str; 6] = [
    "message",
    "edited_message",
    "channel_post",
    "edited_channel_post",
    "callback_query",
    "my_chat_member",
];

/// Validity of an update number. Telegram stores updates no longer, so an older number confirms nothing. After a week
/// without updates numbers begin anew, and an old number that is slightly higher would confirm updates that were never
/// read.
const NUMBER_GOOD_FOR: Duration = Duration::from_hours(24);

const _: () = assert!(POLL_FOR.as_secs() < POLL_WAIT.as_secs(), "Telegram gives up first");

#[async_trait]
impl Listen for Telegram {
    fn source(&self) -> &'static str {
        "updates"
    }

    async fn listen(
        &self,
        bot: &Bot,
        cursor: Option<&str>,
    ) -> Result<Vec<PlatformEvent>, ListenError> {
        let mut asked = json!({
            "timeout": POLL_FOR.as_secs(), "limit": UPDATES_MAX, "allowed_updates": KINDS,
        });
        let cursor = cursor.and_then(UpdateCursor::parse);
        if let Some(next) = cursor.and_then(|cursor| cursor.number_at(self.clock.now())) {
            asked["offset"] = json!(next);
        }
        let told = self.api.call_within(POLL_WAIT, bot.key.as_ref(), "getUpdates", &asked).await;
        let told: Vec<Box<RawValue>> = told.map_err(listen_error)?;
        convert_updates(bot, &told, self.clock.now())
    }
}

/// The position after the last stored update.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct UpdateCursor {
    next: i64,
    since: Timestamp,
}

impl UpdateCursor {
    fn parse(text: &str) -> Option<Self> {
        let (next, since) = text.split_once('@')?;
        let since = Timestamp::from_second(since.parse().ok()?).ok()?;
        Some(Self { next: next.parse().ok()?, since })
    }

    fn to_text(self) -> String {
        format!("{}@{}", self.next, self.since.as_second())
    }

    /// Returns the number to request, if it is still valid.
    fn number_at(self, now: Timestamp) -> Option<i64> {
        let age = now.duration_since(self.since).unsigned_abs();
        (age < NUMBER_GOOD_FOR).then_some(self.next)
    }
}

#[derive(Deserialize)]
struct UpdateHead {
    update_id: i64,
}

/// Converts updates. Each cursor follows from its own update's number, even if that is lower than the previous one:
/// numbers may begin anew, and a cursor at the highest number would request the same updates forever.
fn convert_updates(
    bot: &Bot,
    told: &[Box<RawValue>],
    now: Timestamp,
) -> Result<Vec<PlatformEvent>, ListenError> {
    let number = |update: &RawValue| {
        let numbered: Option<UpdateHead> = serde_json::from_str(update.get()).ok();
        numbered.map(|numbered| numbered.update_id)
    };
    let Some(mut last) = told.iter().find_map(|update| number(update)) else {
        let is_quiet = told.is_empty();
        let unnumbered = || ListenError::Unavailable("updates without numbers".into());
        return if is_quiet { Ok(Vec::new()) } else { Err(unnumbered()) };
    };
    let hear = |update: &RawValue| {
        last = number(update).unwrap_or(last);
        let cursor = UpdateCursor { next: last.saturating_add(1), since: now }.to_text();
        let body = update.get().as_bytes();
        PlatformEvent {
            event: convert_update(bot, body),
            body: body.to_vec(),
            cursor,
            capability: None,
            is_after_gap: false,
        }
    };
    Ok(told.iter().map(AsRef::as_ref).map(hear).collect())
}

/// Maps a failed call to the listener's error. Telegram reports a conflict if another receiver has the updates.
pub(crate) fn listen_error(error: PlatformCallError) -> ListenError {
    if error.status() == Some(StatusCode::CONFLICT) { ListenError::Elsewhere } else { error.into() }
}

#[cfg(test)]
mod tests;
