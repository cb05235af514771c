//! Finds the channel of a send, and creates and renames threads.

use nightdesk_kit::text::thread_name;
use nightdesk_port::{Bot, ChatInfo, DeliverError, Receipt};
use nightdesk_types::Send;
use nightdesk_types::send::Conditions;
use reqwest::Method;
use serde::Deserialize;
use serde_json::json;

use super::CreatedObject;
use super::message_body::{
    MessageBody, PUBLIC_THREAD, THREAD_NAME_CHARS_MAX, parse_id, parse_id_value,
};
use crate::Discord;
use crate::api::ApiCall;
use crate::events::DiscordChannel;
use crate::id::Id;
use crate::own_ids::OwnIds;

/// The other person in a direct message channel.
#[derive(Deserialize)]
struct DmRecipient {
    username: String,
    global_name: Option<String>,
}

#[derive(Deserialize)]
struct ChannelDetails {
    #[serde(flatten)]
    room: DiscordChannel,
    #[serde(default)]
    recipients: Vec<DmRecipient>,
}

impl Discord {
    /// Returns the channel of a send: its chat, or the thread that it names. The gate has checked the chat. This
    /// function checks that the thread belongs to it, because a thread's id alone reaches any channel.
    pub(super) async fn find_channel(&self, bot: &Bot, send: &Send) -> Result<Id, DeliverError> {
        let chat =
            parse_id(&send.chat_id).ok_or_else(|| DeliverError::refused("chat_not_found"))?;
        let Some(thread) = send.metadata.get("thread_id").filter(|thread| !thread.is_null()) else {
            return Ok(chat);
        };
        let thread = parse_id_value(thread).ok_or_else(thread_not_found)?;
        if thread == chat {
            return Ok(chat);
        }
        self.find_thread(bot, chat, thread).await.map(|room| room.id)
    }

    /// Returns a thread of a channel.
    async fn find_thread(
        &self,
        bot: &Bot,
        chat: Id,
        thread: Id,
    ) -> Result<DiscordChannel, DeliverError> {
        let room = match self.guilds.find_channel(bot.id, thread) {
            Some(room) => room,
            None => self.fetch_channel(bot, thread).await?,
        };
        thread_in(chat, room)
    }

    /// Requests the current state of a channel.
    async fn fetch_channel(&self, bot: &Bot, id: Id) -> Result<DiscordChannel, DeliverError> {
        Ok(self.api.call(bot, ApiCall::get(format!("channels/{id}"))).await?)
    }

    pub(super) async fn open_thread(
        &self,
        bot: &Bot,
        send: &Send,
        name: &str,
    ) -> Result<Receipt, DeliverError> {
        let chat =
            parse_id(&send.chat_id).ok_or_else(|| DeliverError::refused("chat_not_found"))?;
        let name = thread_name(name, THREAD_NAME_CHARS_MAX)?;
        // In a forum every thread begins with a message.
        let is_forum = self.guilds.find_channel(bot.id, chat).is_some_and(|room| room.is_forum());
        let asked = if is_forum {
            let first = MessageBody::with_text(bot, &name)?.into_json();
            json!({ "name": name, "message": first })
        } else {
            json!({ "name": name, "type": PUBLIC_THREAD })
        };
        let call = ApiCall::new(Method::POST, format!("channels/{chat}/threads")).with_body(asked);
        let made: CreatedObject = self.api.call(bot, call).await?;
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
        let chat =
            parse_id(&send.chat_id).ok_or_else(|| DeliverError::refused("chat_not_found"))?;
        let thread = parse_id(thread).ok_or_else(thread_not_found)?;
        let room = if send.conditions().is_none() {
            self.find_thread(bot, chat, thread).await?
        } else {
            thread_in(chat, self.fetch_channel(bot, thread).await?)?
        };
        check_conditions(send.conditions(), &room, OwnIds::from_bot(bot))?;
        let asked = json!({ "name": thread_name(name, THREAD_NAME_CHARS_MAX)? });
        let path = format!("channels/{}", room.id);
        self.send_without_result(bot, ApiCall::new(Method::PATCH, path).with_body(asked)).await
    }

    pub(super) async fn chat_info(&self, bot: &Bot, send: &Send) -> Result<Receipt, DeliverError> {
        let chat =
            parse_id(&send.chat_id).ok_or_else(|| DeliverError::refused("chat_not_found"))?;
        let call = ApiCall::get(format!("channels/{chat}"));
        let ChannelDetails { room, recipients } = self.api.call(bot, call).await?;
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
fn thread_in(chat: Id, room: DiscordChannel) -> Result<DiscordChannel, DeliverError> {
    let is_there = room.is_thread() && (room.parent_id == Some(chat) || room.id == chat);
    if is_there { Ok(room) } else { Err(thread_not_found()) }
}

/// Checks the agent's conditions for a rename.
fn check_conditions(
    asked: Conditions<'_>,
    room: &DiscordChannel,
    me: OwnIds,
) -> Result<(), DeliverError> {
    if asked.is_ours && !room.owner_id.is_some_and(|owner| me.is_own_account(owner)) {
        return Err(DeliverError::refused("thread_of_somebody_else"));
    }
    if asked.current_name.is_some_and(|name| room.name.as_deref() != Some(name)) {
        return Err(DeliverError::refused("thread_has_another_name"));
    }
    Ok(())
}

fn thread_not_found() -> DeliverError {
    DeliverError::refused("thread_not_found")
}
