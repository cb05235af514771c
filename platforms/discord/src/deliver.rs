//! Deliver: what an agent says or does, as one call to Discord.

use async_trait::async_trait;
use nightdesk_port::{Bot, CAPABILITY_GONE, ChatInfo, Deliver, DeliverError, Receipt};
use nightdesk_types::Send;
use nightdesk_types::send::Op;
use nightdesk_vault::Key;
use reqwest::{Method, StatusCode};
use serde::Deserialize;
use serde_json::json;

use crate::Discord;
use crate::api::{Call, CallError, Refusal, UNKNOWN_MESSAGE};
use crate::me::Me;
use crate::words::{Id, Room, is_token};

mod asked;

use asked::{Asked, buttons, emoji, id, media, thread_name};

#[async_trait]
impl Deliver for Discord {
    async fn deliver(&self, bot: &Bot, send: &Send) -> Result<Receipt, DeliverError> {
        self.do_once(bot, send, None).await
    }

    async fn deliver_as(
        &self,
        bot: &Bot,
        send: &Send,
        name: &str,
    ) -> Result<Receipt, DeliverError> {
        self.do_once(bot, send, Some(name)).await
    }

    /// Answers an interaction. Without the bot's key: whoever has the token may.
    async fn follow_up(
        &self,
        bot: &Bot,
        send: &Send,
        capability: &Key,
    ) -> Result<Receipt, DeliverError> {
        let Op::FollowUp { content, .. } = &send.op else { return Err(DeliverError::Unsupported) };
        let application = Me::of(bot).application.ok_or(DeliverError::KeyRejected)?;
        let path = |token: &str| {
            is_token(token).then(|| format!("webhooks/{application}/{token}?wait=true"))
        };
        let path = capability.with(path).ok_or_else(|| refused(CAPABILITY_GONE))?;
        let body = Asked::saying(bot, content)?.into_json();
        let made = self.api.bare(bot, Call::new(Method::POST, path).with(body)).await;
        made.map(Made::receipt).map_err(|error| match error {
            CallError::Refused(no) if no.is_gone() => refused(CAPABILITY_GONE),
            error => failed(error),
        })
    }
}

/// What is made by a call, of which only the number matters.
#[derive(Deserialize)]
struct Made {
    id: Id,
}

impl Made {
    #[expect(clippy::needless_pass_by_value, reason = "it is mapped over")]
    fn receipt(self) -> Receipt {
        Receipt { message_id: Some(self.id.to_string()), ..Receipt::default() }
    }
}

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
    async fn do_once(
        &self,
        bot: &Bot,
        send: &Send,
        name: Option<&str>,
    ) -> Result<Receipt, DeliverError> {
        match &send.op {
            Op::Send { content, reply_to } => {
                let asked = Asked::saying(bot, content)?.replying(reply_to.as_deref());
                self.say(bot, send, asked.named(name)).await
            }
            Op::SendMedia { source_url, content, reply_to, .. } => {
                let asked = Asked::saying(bot, &media(content, source_url)?)?;
                self.say(bot, send, asked.replying(reply_to.as_deref()).named(name)).await
            }
            Op::Prompt { content, prompt_id, options, reply_to, .. } => {
                let asked = Asked::saying(bot, content)?.replying(reply_to.as_deref());
                let asked = asked.with("components", buttons(prompt_id, options)?);
                self.say(bot, send, asked.named(name)).await
            }
            Op::Edit { message_id, content } => {
                let call = self.at_message(bot, send, (Method::PATCH, message_id, "")).await?;
                let call = call.with(Asked::saying(bot, content)?.into_json());
                self.api.call(bot, call).await.map(Made::receipt).map_err(failed)
            }
            Op::Delete { message_id } => {
                let call = self.at_message(bot, send, (Method::DELETE, message_id, "")).await?;
                match self.api.done(bot, call).await {
                    // It is gone already.
                    Err(CallError::Refused(no)) if no.is(UNKNOWN_MESSAGE) => Ok(Receipt::default()),
                    done => done.map(|()| Receipt::default()).map_err(failed),
                }
            }
            Op::React { message_id, emoji: shown, remove } => {
                let method = if *remove { Method::DELETE } else { Method::PUT };
                let rest = format!("/reactions/{}/@me", emoji(shown)?);
                let call = self.at_message(bot, send, (method, message_id, &rest)).await?;
                self.done(bot, call).await
            }
            // It has no words for it, and clears it by itself.
            Op::Typing { content: Some(content) } if content.is_empty() => Ok(Receipt::default()),
            Op::Typing { .. } => {
                let channel = self.channel(bot, send).await?;
                let path = format!("channels/{channel}/typing");
                self.done(bot, Call::new(Method::POST, path)).await
            }
            Op::ThreadCreate { thread_name } => self.open_thread(bot, send, thread_name).await,
            Op::ThreadRename { message_id, thread_name } => {
                self.rename_thread(bot, send, (message_id, thread_name)).await
            }
            Op::GetChatInfo => self.chat_info(bot, send).await,
            Op::Draft { .. }
            | Op::TaskCard { .. }
            | Op::TaskCardStop { .. }
            | Op::FollowUp { .. } => Err(DeliverError::Unsupported),
        }
    }

    async fn say(&self, bot: &Bot, send: &Send, asked: Asked) -> Result<Receipt, DeliverError> {
        let path = format!("channels/{}/messages", self.channel(bot, send).await?);
        let call = Call::new(Method::POST, path).with(asked.into_json());
        self.api.call(bot, call).await.map(Made::receipt).map_err(failed)
    }

    /// Something done to a message.
    async fn at_message(
        &self,
        bot: &Bot,
        send: &Send,
        (method, message, rest): (Method, &str, &str),
    ) -> Result<Call, DeliverError> {
        let message = id(message).ok_or_else(|| refused("message_not_found"))?;
        let channel = self.channel(bot, send).await?;
        Ok(Call::new(method, format!("channels/{channel}/messages/{message}{rest}")))
    }

    /// Does something that leaves nothing to name.
    async fn done(&self, bot: &Bot, call: Call) -> Result<Receipt, DeliverError> {
        self.api.done(bot, call).await.map(|()| Receipt::default()).map_err(failed)
    }

    /// The channel a send goes to: its chat, or the thread it names. That the agent may speak in the chat was
    /// looked at; that the thread is in it is looked at here, since a thread's number alone leads anywhere.
    async fn channel(&self, bot: &Bot, send: &Send) -> Result<Id, DeliverError> {
        let chat = id(&send.chat_id).ok_or_else(|| refused("chat_not_found"))?;
        let Some(thread) = send.metadata.get("thread_id").filter(|thread| !thread.is_null()) else {
            return Ok(chat);
        };
        let thread = asked::number(thread).ok_or_else(no_thread)?;
        if thread == chat {
            return Ok(chat);
        }
        self.thread_of(bot, chat, thread).await.map(|room| room.id)
    }

    /// A thread of a channel.
    async fn thread_of(&self, bot: &Bot, chat: Id, thread: Id) -> Result<Room, DeliverError> {
        let room = match self.guilds.room(bot.id, thread) {
            Some(room) => room,
            None => {
                let call = Call::get(format!("channels/{thread}"));
                self.api.call::<Room>(bot, call).await.map_err(failed)?
            }
        };
        let is_there = room.is_thread() && (room.parent_id == Some(chat) || thread == chat);
        if is_there { Ok(room) } else { Err(no_thread()) }
    }

    async fn open_thread(
        &self,
        bot: &Bot,
        send: &Send,
        name: &str,
    ) -> Result<Receipt, DeliverError> {
        let chat = id(&send.chat_id).ok_or_else(|| refused("chat_not_found"))?;
        let asked = json!({ "name": thread_name(name)?, "type": asked::PUBLIC_THREAD });
        let call = Call::new(Method::POST, format!("channels/{chat}/threads")).with(asked);
        let made: Made = self.api.call(bot, call).await.map_err(failed)?;
        Ok(Receipt { thread_id: Some(made.id.to_string()), ..Receipt::default() })
    }

    /// Renames a thread. By the same call a channel could be renamed, so what it is is looked at first.
    async fn rename_thread(
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

    async fn chat_info(&self, bot: &Bot, send: &Send) -> Result<Receipt, DeliverError> {
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

fn refused(code: &str) -> DeliverError {
    DeliverError::Refused { platform_code: code.to_owned() }
}

fn no_thread() -> DeliverError {
    refused("thread_not_found")
}

/// What a failed call means for a send.
fn failed(error: CallError) -> DeliverError {
    match error {
        CallError::NoKey => DeliverError::KeyRejected,
        CallError::Held(retry_after) => DeliverError::RateLimited { retry_after },
        CallError::NotSent(source) => DeliverError::Unavailable(source),
        CallError::Unanswered(source) => DeliverError::Ambiguous(source),
        CallError::Refused(refusal) => said_no(&refusal),
    }
}

fn said_no(refusal: &Refusal) -> DeliverError {
    match refusal.status {
        StatusCode::TOO_MANY_REQUESTS => {
            DeliverError::RateLimited { retry_after: refusal.retry_after }
        }
        StatusCode::UNAUTHORIZED => DeliverError::KeyRejected,
        status if status.is_client_error() => refused(&refusal.word()),
        status => DeliverError::Ambiguous(format!("Discord answered {status}").into()),
    }
}

#[cfg(test)]
mod tests;
