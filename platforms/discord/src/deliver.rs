//! Makes an agent's op as one call to Discord.

use async_trait::async_trait;
use nightdesk_kit::buttons::StopButton;
use nightdesk_kit::{PlatformCallError, PlatformRefusal, file_part};
use nightdesk_port::{Bot, CAPABILITY_GONE, CommandChange, Deliver, DeliverError, File, Receipt};
use nightdesk_types::Send;
use nightdesk_types::send::Op;
use nightdesk_vault::Key;
use reqwest::{Method, StatusCode};
use serde::Deserialize;

use crate::Discord;
use crate::api::{ApiCall, ApiCaller, GONE, UNKNOWN_MESSAGE, UNNAMED};
use crate::events::is_token;
use crate::id::Id;
use crate::own_ids::OwnIds;

mod message_body;
mod commands;
mod threads;

use message_body::{MessageBody, emoji, parse_id};

#[async_trait]
impl Deliver for Discord {
    async fn deliver(&self, bot: &Bot, send: &Send) -> Result<Receipt, DeliverError> {
        self.deliver_once(bot, send, None).await
    }

    async fn deliver_as(
        &self,
        bot: &Bot,
        send: &Send,
        name: &str,
    ) -> Result<Receipt, DeliverError> {
        self.deliver_once(bot, send, Some(name)).await
    }

    async fn upload(
        &self,
        bot: &Bot,
        send: &Send,
        file: &File,
        name: &str,
    ) -> Result<Receipt, DeliverError> {
        let (asked, file) = MessageBody::with_upload(bot, &send.op, file)?;
        let path = format!("channels/{}/messages", self.find_channel(bot, send).await?);
        let call =
            ApiCall::new(Method::POST, path).with_body(asked.with_nonce(Some(name)).into_json());
        let file = file_part(&file, UNNAMED).await?;
        Ok(self.api.upload(bot, call, file).await.map(CreatedObject::into_receipt)?)
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
        let application = OwnIds::from_bot(bot).application.ok_or(DeliverError::KeyRejected)?;
        let path = |token: &str| {
            is_token(token).then(|| format!("webhooks/{application}/{token}?wait=true"))
        };
        let path = capability.with(path).ok_or_else(|| DeliverError::refused(CAPABILITY_GONE))?;
        let body = MessageBody::with_text(bot, content)?.into_json();
        let made = self
            .api
            .call(ApiCaller::by_path(bot), ApiCall::new(Method::POST, path).with_body(body))
            .await;
        match made {
            Err(PlatformCallError::Refused(no)) if is_gone(&no) => {
                Err(DeliverError::refused(CAPABILITY_GONE))
            }
            made => Ok(made.map(CreatedObject::into_receipt)?),
        }
    }
}

/// A created object, of which only the id is used.
#[derive(Deserialize)]
struct CreatedObject {
    id: Id,
}

impl CreatedObject {
    fn into_receipt(self) -> Receipt {
        Receipt { message_id: Some(self.id.to_string()), ..Receipt::default() }
    }
}

impl Discord {
    async fn deliver_once(
        &self,
        bot: &Bot,
        send: &Send,
        name: Option<&str>,
    ) -> Result<Receipt, DeliverError> {
        match &send.op {
            Op::Send { content, reply_to } => {
                let asked = MessageBody::with_text(bot, content)?.reply_to(reply_to.as_deref());
                let asked = asked.with_stop_button(StopButton::of_send(bot, send))?;
                self.create_message(bot, send, asked.with_nonce(name)).await
            }
            Op::SendMedia { source_url, content, reply_to, .. } => {
                let asked = MessageBody::with_link(bot, content, source_url)?;
                self.create_message(bot, send, asked.reply_to(reply_to.as_deref()).with_nonce(name))
                    .await
            }
            Op::Prompt { content, prompt_id, options, reply_to, .. } => {
                let asked = MessageBody::with_buttons(bot, content, prompt_id, options)?;
                self.create_message(bot, send, asked.reply_to(reply_to.as_deref()).with_nonce(name))
                    .await
            }
            Op::Edit { message_id, content } => self.edit(bot, send, message_id, content).await,
            Op::Delete { message_id } => self.delete(bot, send, message_id).await,
            Op::React { message_id, emoji: shown, remove } => {
                let method = if *remove { Method::DELETE } else { Method::PUT };
                let emoji = emoji(shown)?;
                let path = self.message_path(bot, send, message_id).await?;
                self.send_without_result(
                    bot,
                    ApiCall::new(method, format!("{path}/reactions/{emoji}/@me")),
                )
                .await
            }
            Op::Typing { content } => self.show_typing(bot, send, content.as_deref()).await,
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
        let call = ApiCall::new(Method::PATCH, self.message_path(bot, send, message).await?);
        let body = MessageBody::with_text(bot, content)?;
        let body = body.with_stop_button(StopButton::of_send(bot, send))?;
        let call = call.with_body(body.into_json());
        Ok(self.api.call(bot, call).await.map(CreatedObject::into_receipt)?)
    }

    async fn delete(&self, bot: &Bot, send: &Send, message: &str) -> Result<Receipt, DeliverError> {
        let call = ApiCall::new(Method::DELETE, self.message_path(bot, send, message).await?);
        match self.api.send(bot, call).await {
            // The message is already deleted.
            Err(PlatformCallError::Refused(no)) if no.is_one_of(&[UNKNOWN_MESSAGE]) => {
                Ok(Receipt::default())
            }
            done => Ok(done.map(|_| Receipt::default())?),
        }
    }

    async fn show_typing(
        &self,
        bot: &Bot,
        send: &Send,
        words: Option<&str>,
    ) -> Result<Receipt, DeliverError> {
        // Discord has no status text, and clears the indicator itself.
        if words == Some("") {
            return Ok(Receipt::default());
        }
        let path = format!("channels/{}/typing", self.find_channel(bot, send).await?);
        self.send_without_result(bot, ApiCall::new(Method::POST, path)).await
    }

    async fn create_message(
        &self,
        bot: &Bot,
        send: &Send,
        asked: MessageBody,
    ) -> Result<Receipt, DeliverError> {
        let path = format!("channels/{}/messages", self.find_channel(bot, send).await?);
        let call = ApiCall::new(Method::POST, path).with_body(asked.into_json());
        Ok(self.api.call(bot, call).await.map(CreatedObject::into_receipt)?)
    }

    /// Returns the path of a message.
    async fn message_path(
        &self,
        bot: &Bot,
        send: &Send,
        message: &str,
    ) -> Result<String, DeliverError> {
        let message =
            parse_id(message).ok_or_else(|| DeliverError::refused("message_not_found"))?;
        let channel = self.find_channel(bot, send).await?;
        Ok(format!("channels/{channel}/messages/{message}"))
    }

    /// Makes a call that returns no id.
    async fn send_without_result(&self, bot: &Bot, call: ApiCall) -> Result<Receipt, DeliverError> {
        self.api.send(bot, call).await?;
        Ok(Receipt::default())
    }
}

/// Returns true if the refusal says that a capability is no longer valid.
fn is_gone(no: &PlatformRefusal) -> bool {
    let is_unknown = matches!(no.status, StatusCode::UNAUTHORIZED | StatusCode::NOT_FOUND);
    is_unknown || no.is_one_of(&GONE)
}

#[cfg(test)]
mod tests;
