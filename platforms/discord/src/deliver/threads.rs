//! Threads: which channel is meant, and what channels are.

use nightdesk_port::{Bot, ChatInfo, DeliverError, Receipt};
use nightdesk_types::Send;
use reqwest::Method;
use serde::Deserialize;
use serde_json::json;

use super::asked::{PUBLIC_THREAD, id, number, thread_name};
use super::{Made, failed, refused};
use crate::Discord;
use crate::api::Call;
use crate::words::{Id, Room};

/// Somebody in a conversation with the bot.
#[derive(Deserialize)]
struct Peer {
    username: String,
    global_name: Option<String>,
}

#[derive(Deserialize)]
struct Channel {
    #[serde(flatten)]
    room: Room,
    #[serde(default)]
    recipients: Vec<Peer>,
}

impl Discord {
    /// The channel a send goes to: its chat, or the thread it names. That the agent may speak in the chat was
    /// looked at; that the thread is in it is looked at here, since a thread's number alone leads anywhere.
    pub(super) async fn channel(&self, bot: &Bot, send: &Send) -> Result<Id, DeliverError> {
        let chat = id(&send.chat_id).ok_or_else(|| refused("chat_not_found"))?;
        let Some(thread) = send.metadata.get("thread_id").filter(|thread| !thread.is_null()) else {
            return Ok(chat);
        };
        let thread = number(thread).ok_or_else(no_thread)?;
        if thread == chat {
            return Ok(chat);
        }
        self.thread_of(bot, chat, thread).await.map(|room| room.id)
    }

    /// A thread of a channel.
    async fn thread_of(&self, bot: &Bot, chat: Id, thread: Id) -> Result<Room, DeliverError> {
        let room = if let Some(room) = self.guilds.room(bot.id, thread) {
            room
        } else {
            let call = Call::get(format!("channels/{thread}"));
            self.api.call::<Room>(bot, call).await.map_err(failed)?
        };
        let is_there = room.is_thread() && (room.parent_id == Some(chat) || thread == chat);
        if is_there { Ok(room) } else { Err(no_thread()) }
    }

    pub(super) async fn open_thread(
        &self,
        bot: &Bot,
        send: &Send,
        name: &str,
    ) -> Result<Receipt, DeliverError> {
        let chat = id(&send.chat_id).ok_or_else(|| refused("chat_not_found"))?;
        let asked = json!({ "name": thread_name(name)?, "type": PUBLIC_THREAD });
        let call = Call::new(Method::POST, format!("channels/{chat}/threads")).with(asked);
        let made: Made = self.api.call(bot, call).await.map_err(failed)?;
        Ok(Receipt { thread_id: Some(made.id.to_string()), ..Receipt::default() })
    }

    /// Renames a thread. By the same call a channel could be renamed, so what it is is looked at first.
    pub(super) async fn rename_thread(
        &self,
        bot: &Bot,
        send: &Send,
        (thread, name): (&str, &str),
    ) -> Result<Receipt, DeliverError> {
        let chat = id(&send.chat_id).ok_or_else(|| refused("chat_not_found"))?;
        let thread = id(thread).ok_or_else(no_thread)?;
        let room = self.thread_of(bot, chat, thread).await?;
        let asked = json!({ "name": thread_name(name)? });
        let path = format!("channels/{}", room.id);
        self.done(bot, Call::new(Method::PATCH, path).with(asked)).await
    }

    pub(super) async fn chat_info(&self, bot: &Bot, send: &Send) -> Result<Receipt, DeliverError> {
        let chat = id(&send.chat_id).ok_or_else(|| refused("chat_not_found"))?;
        let call = Call::get(format!("channels/{chat}"));
        let Channel { room, recipients } = self.api.call(bot, call).await.map_err(failed)?;
        let peer = recipients.into_iter().next();
        let peer = peer.map(|peer| peer.global_name.unwrap_or(peer.username));
        let kind = match room.guild_id {
            None => "dm",
            Some(_) if room.is_thread() => "thread",
            Some(_) if room.is_forum() => "forum",
            Some(_) => "group",
        };
        let name = room.name.or(peer).unwrap_or_else(|| send.chat_id.clone());
        let chat = Some(ChatInfo { name, kind: kind.to_owned() });
        Ok(Receipt { chat, ..Receipt::default() })
    }
}

fn no_thread() -> DeliverError {
    refused("thread_not_found")
}
