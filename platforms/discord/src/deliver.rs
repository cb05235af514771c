//! Makes an agent's op as one call to Discord.

use async_trait::async_trait;
use nightdesk_kit::{CallError, Refusal};
use nightdesk_port::{Bot, CAPABILITY_GONE, CommandChange, Deliver, DeliverError, File, Receipt};
use nightdesk_types::Send;
use nightdesk_types::send::Op;
use nightdesk_vault::Key;
use reqwest::{Method, StatusCode};
use serde::Deserialize;

use crate::Discord;
use crate::api::{Call, Caller, GONE, UNKNOWN_MESSAGE};
use crate::id::Id;
use crate::me::Me;
use crate::words::is_token;

mod asked;
mod commands;
mod threads;

use asked::{Asked, emoji, id};

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

    async fn upload(
        &self,
        bot: &Bot,
        send: &Send,
        file: &File,
        name: &str,
    ) -> Result<Receipt, DeliverError> {
        let (asked, file) = Asked::giving(bot, &send.op, file)?;
        let path = format!("channels/{}/messages", self.channel(bot, send).await?);
        let call = Call::new(Method::POST, path).with(asked.named(Some(name)).into_json());
        Ok(self.api.call(bot, call.giving(file)).await.map(Made::receipt)?)
    }

    async fn command(
        &self,
        bot: &Bot,
        scope_id: &str,
        change: &CommandChange,
    ) -> Result<Receipt, DeliverError> {
        self.change_command(bot, scope_id, change).await
    }

    /// Answers an interaction without the bot's key, because its token is sufficient.
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
        let path = capability.with(path).ok_or_else(|| DeliverError::refused(CAPABILITY_GONE))?;
        let body = Asked::saying(bot, content)?.into_json();
        let made =
            self.api.call(Caller::by_path(bot), Call::new(Method::POST, path).with(body)).await;
        match made {
            Err(CallError::Refused(no)) if is_gone(&no) => {
                Err(DeliverError::refused(CAPABILITY_GONE))
            }
            made => Ok(made.map(Made::receipt)?),
        }
    }
}

/// A created object, of which only the id is used.
#[derive(Deserialize)]
struct Made {
    id: Id,
}

impl Made {
    fn receipt(self) -> Receipt {
        Receipt { message_id: Some(self.id.to_string()), ..Receipt::default() }
    }
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
                let asked = Asked::linking(bot, content, source_url)?;
                self.say(bot, send, asked.replying(reply_to.as_deref()).named(name)).await
            }
            Op::Prompt { content, prompt_id, options, reply_to, .. } => {
                let asked = Asked::asking(bot, content, prompt_id, options)?;
                self.say(bot, send, asked.replying(reply_to.as_deref()).named(name)).await
            }
            Op::Edit { message_id, content } => self.edit(bot, send, message_id, content).await,
            Op::Delete { message_id } => self.delete(bot, send, message_id).await,
            Op::React { message_id, emoji: shown, remove } => {
                let method = if *remove { Method::DELETE } else { Method::PUT };
                let emoji = emoji(shown)?;
                let path = self.message_path(bot, send, message_id).await?;
                self.done(bot, Call::new(method, format!("{path}/reactions/{emoji}/@me"))).await
            }
            Op::Typing { content } => self.type_on(bot, send, content.as_deref()).await,
            Op::ThreadCreate { thread_name } => self.open_thread(bot, send, thread_name).await,
            Op::ThreadRename { message_id, thread_name } => {
                self.rename_thread(bot, send, message_id, thread_name).await
            }
            Op::GetChatInfo => self.chat_info(bot, send).await,
            Op::Draft { .. }
            | Op::TaskCard { .. }
            | Op::TaskCardStop { .. }
            | Op::FollowUp { .. } => Err(DeliverError::Unsupported),
        }
    }

    async fn edit(
        &self,
        bot: &Bot,
        send: &Send,
        message: &str,
        content: &str,
    ) -> Result<Receipt, DeliverError> {
        let call = Call::new(Method::PATCH, self.message_path(bot, send, message).await?);
        let call = call.with(Asked::saying(bot, content)?.into_json());
        Ok(self.api.call(bot, call).await.map(Made::receipt)?)
    }

    async fn delete(&self, bot: &Bot, send: &Send, message: &str) -> Result<Receipt, DeliverError> {
        let call = Call::new(Method::DELETE, self.message_path(bot, send, message).await?);
        match self.api.send(bot, call).await {
            // The message is already deleted.
            Err(CallError::Refused(no)) if no.is_one_of(&[UNKNOWN_MESSAGE]) => {
                Ok(Receipt::default())
            }
            done => Ok(done.map(|_| Receipt::default())?),
        }
    }

    async fn type_on(
        &self,
        bot: &Bot,
        send: &Send,
        words: Option<&str>,
    ) -> Result<Receipt, DeliverError> {
        // Discord has no status text, and clears the indicator itself.
        if words == Some("") {
            return Ok(Receipt::default());
        }
        let path = format!("channels/{}/typing", self.channel(bot, send).await?);
        self.done(bot, Call::new(Method::POST, path)).await
    }

    async fn say(&self, bot: &Bot, send: &Send, asked: Asked) -> Result<Receipt, DeliverError> {
        let path = format!("channels/{}/messages", self.channel(bot, send).await?);
        let call = Call::new(Method::POST, path).with(asked.into_json());
        Ok(self.api.call(bot, call).await.map(Made::receipt)?)
    }

    /// Returns the path of a message.
    async fn message_path(
        &self,
        bot: &Bot,
        send: &Send,
        message: &str,
    ) -> Result<String, DeliverError> {
        let message = id(message).ok_or_else(|| DeliverError::refused("message_not_found"))?;
        let channel = self.channel(bot, send).await?;
        Ok(format!("channels/{channel}/messages/{message}"))
    }

    /// Makes a call that returns no id.
    async fn done(&self, bot: &Bot, call: Call) -> Result<Receipt, DeliverError> {
        self.api.send(bot, call).await?;
        Ok(Receipt::default())
    }
}

/// Returns true if the refusal says that a capability is no longer valid.
fn is_gone(no: &Refusal) -> bool {
    let is_unknown = matches!(no.status, StatusCode::UNAUTHORIZED | StatusCode::NOT_FOUND);
    is_unknown || no.is_one_of(&GONE)
}

#[cfg(test)]
mod tests;
