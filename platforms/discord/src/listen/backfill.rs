//! Fetches messages of a channel that were written without an open session, or before a message.

use nightdesk_kit::PlatformCallError;
use nightdesk_port::{Bot, HistoryRange, ListenError, PlatformEvent};
use nightdesk_types::Timestamp;
use reqwest::StatusCode;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::Discord;
use crate::api::ApiCall;
use crate::events::convert_event;
use crate::id::Id;
use crate::visibility::BotChannels;

/// Messages per request, which is Discord's maximum.
const PAGE_MAX: usize = 100;

#[derive(Deserialize)]
struct MessageHead {
    id: Id,
}

impl Discord {
    /// Returns a page of a channel's messages, oldest first.
    pub(super) async fn fetch_history(
        &self,
        bot: &Bot,
        channel: &str,
        part: HistoryRange<'_>,
    ) -> Result<Vec<PlatformEvent>, ListenError> {
        let odd = || ListenError::Unavailable("the id of the channel or message is invalid".into());
        let channel = Id::parse(channel).ok_or_else(odd)?;
        let which = history_query(part).ok_or_else(odd)?;
        // Fetched messages do not contain their guild.
        self.learn_channel(bot, channel).await.map_err(listen_error)?;
        let path = format!("channels/{channel}/messages?{which}");
        let told: Vec<Box<RawValue>> =
            self.api.call(bot, ApiCall::get(path)).await.map_err(listen_error)?;
        let mut told: Vec<(Id, &str)> = told.iter().filter_map(|one| parse_head(one)).collect();
        told.sort_by_key(|(id, _)| *id);
        Ok(told.into_iter().map(|(id, text)| self.fetched_event(bot, id, text)).collect())
    }

    fn fetched_event(&self, bot: &Bot, id: Id, text: &str) -> PlatformEvent {
        let rooms = BotChannels(&self.guilds, bot.id);
        let said = convert_event(bot, &rooms, "MESSAGE_CREATE", text.as_bytes());
        PlatformEvent {
            body: if said.is_err() { text.as_bytes().to_vec() } else { Vec::new() },
            event: said.map(|said| said.map(|(draft, _)| draft)),
            cursor: id.to_string(),
            capability: None,
            is_after_gap: false,
        }
    }
}

/// Converts a failed call. A deleted channel, or one that the bot may not read, is a permanent failure.
fn listen_error(error: PlatformCallError) -> ListenError {
    if matches!(error.status(), Some(StatusCode::FORBIDDEN | StatusCode::NOT_FOUND)) {
        return ListenError::Barred { reason: "the bot may not read a channel" };
    }
    error.into()
}

fn history_query(part: HistoryRange<'_>) -> Option<String> {
    let after = |id: Id| format!("after={id}&limit={PAGE_MAX}");
    match part {
        HistoryRange::Since(at) => Some(after(Id(first_id_after(at)))),
        HistoryRange::After(cursor) => Id::parse(cursor).map(after),
        HistoryRange::Before(message, count) => {
            let count = count.clamp(1, PAGE_MAX);
            Id::parse(message).map(|id| format!("before={id}&limit={count}"))
        }
    }
}

/// Returns the lowest id that a message of this time can have. Ids begin with the milliseconds since the first second
/// of 2015.
fn first_id_after(at: Timestamp) -> u64 {
    const FIRST_MS: i64 = 1_420_070_400_000;
    u64::try_from(at.as_millisecond() - FIRST_MS).unwrap_or(0) << 22
}

fn parse_head(told: &RawValue) -> Option<(Id, &str)> {
    let MessageHead { id } = serde_json::from_str(told.get()).ok()?;
    Some((id, told.get()))
}
