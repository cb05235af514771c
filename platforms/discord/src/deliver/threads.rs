//! Finds the channel of a send, and creates and renames threads.

use nightdesk_kit::text::thread_name;
use nightdesk_port::{Bot, ChatInfo, DeliverError, Receipt};
use nightdesk_types::Send;
use nightdesk_types::send::Conditions;
use reqwest::Method;
use serde::Deserialize;
use serde_json::json;

use super::Made;
use super::asked::{Asked, PUBLIC_THREAD, THREAD_NAME_CHARS_MAX, id, number};
use crate::Discord;
use crate::api::Call;
use crate::id::Id;
use crate::me::Me;
use crate::words::Room;

/// The other person in a direct message channel.
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
    /// Returns the channel of a send: its chat, or the thread that it names. The gate has checked the chat. This
    /// function checks that the thread belongs to it, because a thread's id alone reaches any channel.
    pub(super) async fn channel(&self, bot: &Bot, send: &Send) -> Result<Id, DeliverError> {
        let chat = id(&send.chat_id).ok_or_else(|| DeliverError::refused("chat_not_found"))?;
        let Some(thread) = send.metadata.get("thread_id").filter(|thread| !thread.is_null()) else {
            return Ok(chat);
        };
        let thread = number(thread).ok_or_else(no_thread)?;
        if thread == chat {
            return Ok(chat);
        }
        self.thread_of(bot, chat, thread).await.map(|room| room.id)
    }

    /// Returns a thread of a channel.
    async fn thread_of(&self, bot: &Bot, chat: Id, thread: Id) -> Result<Room, DeliverError> {
        let room = match self.guilds.room(bot.id, thread) {
            Some(room) => room,
            None => self.room_now(bot, thread).await?,
        };
        thread_in(chat, room)
    }

    /// Requests the current state of a channel.
    async fn room_now(&self, bot: &Bot, id: Id) -> Result<Room, DeliverError> {
        Ok(self.api.call(bot, Call::get(format!("channels/{id}"))).await?)
    }

    pub(super) async fn open_thread(
        &self,
        bot: &Bot,
        send: &Send,
        name: &str,
    ) -> Result<Receipt, DeliverError> {
        let chat = id(&send.chat_id).ok_or_else(|| DeliverError::refused("chat_not_found"))?;
        let name = thread_name(name, THREAD_NAME_CHARS_MAX)?;
        // In a forum every thread begins with a message.
        let is_forum = self.guilds.room(bot.id, chat).is_some_and(|room| room.is_forum());
        let asked = if is_forum {
            let first = Asked::saying(bot, &name)?.into_json();
            json!({ "name": name, "message": first })
        } else {
            json!({ "name": name, "type": PUBLIC_THREAD })
        };
        let call = Call::new(Method::POST, format!("channels/{chat}/threads")).with(asked);
        let made: Made = self.api.call(bot, call).await?;
        Ok(Receipt { thread_id: Some(made.id.to_string()), ..Receipt::default() })
    }

    /// Renames a thread. The same call could rename a channel, so the channel's type is checked first. If the agent
    /// requires it, the thread's owner and name are checked directly before the call.
    pub(super) async fn rename_thread(
        &self,
        bot: &Bot,
        send: &Send,
        thread: &str,
        name: &str,
    ) -> Result<Receipt, DeliverError> {
        let chat = id(&send.chat_id).ok_or_else(|| DeliverError::refused("chat_not_found"))?;
        let thread = id(thread).ok_or_else(no_thread)?;
        let room = if send.conditions().is_none() {
            self.thread_of(bot, chat, thread).await?
        } else {
            thread_in(chat, self.room_now(bot, thread).await?)?
        };
        check(send.conditions(), &room, Me::of(bot))?;
        let asked = json!({ "name": thread_name(name, THREAD_NAME_CHARS_MAX)? });
        let path = format!("channels/{}", room.id);
        self.done(bot, Call::new(Method::PATCH, path).with(asked)).await
    }

    pub(super) async fn chat_info(&self, bot: &Bot, send: &Send) -> Result<Receipt, DeliverError> {
        let chat = id(&send.chat_id).ok_or_else(|| DeliverError::refused("chat_not_found"))?;
        let call = Call::get(format!("channels/{chat}"));
        let Channel { room, recipients } = self.api.call(bot, call).await?;
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

/// Returns the channel if it is a thread of this chat.
fn thread_in(chat: Id, room: Room) -> Result<Room, DeliverError> {
    let is_there = room.is_thread() && (room.parent_id == Some(chat) || room.id == chat);
    if is_there { Ok(room) } else { Err(no_thread()) }
}

/// Checks the agent's conditions for a rename.
fn check(asked: Conditions<'_>, room: &Room, me: Me) -> Result<(), DeliverError> {
    if asked.is_ours && !room.owner_id.is_some_and(|owner| me.is(owner)) {
        return Err(DeliverError::refused("thread_of_somebody_else"));
    }
    if asked.current_name.is_some_and(|name| room.name.as_deref() != Some(name)) {
        return Err(DeliverError::refused("thread_has_another_name"));
    }
    Ok(())
}

fn no_thread() -> DeliverError {
    DeliverError::refused("thread_not_found")
}
