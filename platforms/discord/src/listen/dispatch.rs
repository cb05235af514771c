//! Converts received data to events and assigns each to its channel or thread.

use std::sync::Arc;

use nightdesk_kit::webhook::read_json;
use nightdesk_port::{Bot, ListenError, PlatformEvent, ReceiveOutcome};
use reqwest::Method;
use serde::Deserialize;
use serde_json::{Value, json};

use super::cursor::SocketCursors;
use super::listener::SocketListener;
use super::session::DispatchEvent;
use crate::Discord;
use crate::api::{ApiCall, ApiCaller};
use crate::events::{Interaction, convert_event, is_token};
use crate::id::Id;
use crate::receive::interaction_response;
use crate::visibility::{BotChannels, GuildCache};

/// The place of a message.
#[derive(Deserialize)]
struct MessagePlace {
    channel_id: Id,
    guild_id: Option<Id>,
}

impl Discord {
    /// Converts received data to events.
    pub(super) async fn convert_dispatches(
        &self,
        bot: &Bot,
        ears: &[Arc<SocketListener>],
        mut cursors: SocketCursors,
        told: Vec<(usize, Arc<DispatchEvent>)>,
    ) -> Result<Vec<PlatformEvent>, ListenError> {
        let mut heard = Vec::with_capacity(told.len());
        for (at, told) in told {
            self.guilds.apply_event(bot.id, &told.kind, told.data.as_bytes());
            match self.learn_place(bot, &ears[at], &told).await {
                Ok(()) => {
                    cursors.0[at] = Some(told.cursor.clone());
                    heard.push(convert_dispatch(&self.guilds, bot, &told, cursors.to_text()));
                }
                // The events before it can be stored already.
                Err(_) if !heard.is_empty() => break,
                Err(error) => return Err(error),
            }
        }
        Ok(heard)
    }

    /// Looks up an unknown channel of a message, because a message in a thread has another place than one in a channel.
    /// The lookup is tried twice; then the place counts as a channel.
    async fn learn_place(
        &self,
        bot: &Bot,
        ear: &SocketListener,
        told: &DispatchEvent,
    ) -> Result<(), ListenError> {
        if !matches!(told.kind.as_str(), "MESSAGE_CREATE" | "MESSAGE_UPDATE") {
            return Ok(());
        }
        let Ok(MessagePlace { channel_id, guild_id: Some(_) }) = read_json(told.data.as_bytes())
        else {
            return Ok(());
        };
        match self.learn_channel(bot, channel_id).await {
            Ok(_) => Ok(()),
            Err(_) if ear.record_failed_lookup(channel_id) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Confirms stored interactions to Discord, which waits three seconds for that.
    pub(super) fn confirm_interactions(&self, bot: &Bot, stored: &[Arc<DispatchEvent>]) {
        let given = stored.iter().filter(|told| told.kind == "INTERACTION_CREATE");
        for told in given {
            let Ok(interaction) = read_json::<Interaction>(told.data.as_bytes()) else { continue };
            if !is_token(&interaction.token) {
                continue;
            }
            let path = format!("interactions/{}/{}/callback", interaction.id, interaction.token);
            let call = ApiCall::new(Method::POST, path)
                .with_body(interaction_response(interaction.kind, ReceiveOutcome::Kept));
            let (api, bot) = (Arc::clone(&self.api), bot.clone());
            self.sockets.spawn(async move {
                // If the call fails, the person sees a failed command, and the stored event remains.
                drop(api.send(ApiCaller::by_path(&bot), call).await);
            });
        }
    }
}

/// Converts received data to an event.
pub(super) fn convert_dispatch(
    guilds: &GuildCache,
    bot: &Bot,
    told: &DispatchEvent,
    cursor: String,
) -> PlatformEvent {
    let rooms = BotChannels(guilds, bot.id);
    let said = convert_event(bot, &rooms, &told.kind, told.data.as_bytes());
    let body = if said.is_err() { without_token(&told.data) } else { Vec::new() };
    let (said, capability) = match said {
        Ok(Some((draft, capability))) => (Ok(Some(draft)), capability),
        Ok(None) => (Ok(None), None),
        Err(error) => (Err(error), None),
    };
    PlatformEvent { event: said, body, cursor, capability, is_after_gap: told.is_after_gap }
}

/// Returns unreadable data without the token, which could act as the bot.
fn without_token(data: &str) -> Vec<u8> {
    let mut data: Value = serde_json::from_str(data).unwrap_or_default();
    if let Some(token) = data.get_mut("token") {
        *token = json!("");
    }
    data.to_string().into_bytes()
}
