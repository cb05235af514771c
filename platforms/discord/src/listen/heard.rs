//! Converts received data to events and assigns each to its channel or thread.

use std::sync::Arc;

use nightdesk_kit::webhook::read_json;
use nightdesk_port::{Bot, Heard, ListenError, Taken};
use reqwest::Method;
use serde::Deserialize;
use serde_json::{Value, json};

use super::cursor::Cursors;
use super::ear::Ear;
use super::talk::Told;
use crate::Discord;
use crate::api::{Call, Caller};
use crate::eyes::{Guilds, RoomsOf};
use crate::id::Id;
use crate::receive::answer;
use crate::words::{Interaction, event, is_token};

/// The place of a message.
#[derive(Deserialize)]
struct Placed {
    channel_id: Id,
    guild_id: Option<Id>,
}

impl Discord {
    /// Converts received data to events.
    pub(super) async fn heard(
        &self,
        bot: &Bot,
        ears: &[Arc<Ear>],
        mut cursors: Cursors,
        told: Vec<(usize, Arc<Told>)>,
    ) -> Result<Vec<Heard>, ListenError> {
        let mut heard = Vec::with_capacity(told.len());
        for (at, told) in told {
            self.guilds.take(bot.id, &told.kind, told.data.as_bytes());
            match self.place(bot, &ears[at], &told).await {
                Ok(()) => {
                    cursors.0[at] = Some(told.cursor.clone());
                    heard.push(said(&self.guilds, bot, &told, cursors.write()));
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
    async fn place(&self, bot: &Bot, ear: &Ear, told: &Told) -> Result<(), ListenError> {
        if !matches!(told.kind.as_str(), "MESSAGE_CREATE" | "MESSAGE_UPDATE") {
            return Ok(());
        }
        let Ok(Placed { channel_id, guild_id: Some(_) }) = read_json(told.data.as_bytes()) else {
            return Ok(());
        };
        match self.learn_room(bot, channel_id).await {
            Ok(_) => Ok(()),
            Err(_) if ear.gives_up(channel_id) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Confirms stored interactions to Discord, which waits three seconds for that.
    pub(super) fn defer(&self, bot: &Bot, stored: &[Arc<Told>]) {
        let given = stored.iter().filter(|told| told.kind == "INTERACTION_CREATE");
        for told in given {
            let Ok(interaction) = read_json::<Interaction>(told.data.as_bytes()) else { continue };
            if !is_token(&interaction.token) {
                continue;
            }
            let path = format!("interactions/{}/{}/callback", interaction.id, interaction.token);
            let call = Call::new(Method::POST, path).with(answer(interaction.kind, Taken::Kept));
            let (api, bot) = (Arc::clone(&self.api), bot.clone());
            self.ears.spawn(async move {
                // If the call fails, the person sees a failed command, and the stored event remains.
                drop(api.send(Caller::by_path(&bot), call).await);
            });
        }
    }
}

/// Converts received data to an event.
pub(super) fn said(guilds: &Guilds, bot: &Bot, told: &Told, cursor: String) -> Heard {
    let rooms = RoomsOf(guilds, bot.id);
    let said = event(bot, &rooms, &told.kind, told.data.as_bytes());
    let body = if said.is_err() { without_token(&told.data) } else { Vec::new() };
    let (said, capability) = match said {
        Ok(Some((draft, capability))) => (Ok(Some(draft)), capability),
        Ok(None) => (Ok(None), None),
        Err(error) => (Err(error), None),
    };
    Heard { said, body, cursor, capability, is_after_gap: told.is_after_gap }
}

/// Returns unreadable data without the token, which could act as the bot.
fn without_token(data: &str) -> Vec<u8> {
    let mut data: Value = serde_json::from_str(data).unwrap_or_default();
    if let Some(token) = data.get_mut("token") {
        *token = json!("");
    }
    data.to_string().into_bytes()
}
