//! Makes an agent's op as one call to Telegram.

use async_trait::async_trait;
use nightdesk_kit::PlatformCallError;
use nightdesk_kit::buttons::StopButton;
use nightdesk_kit::text::{message_text, thread_name};
use nightdesk_port::{Bot, ChatInfo, Deliver, DeliverError, File, Receipt};
use nightdesk_types::Send;
use nightdesk_types::send::Op;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::Telegram;
use crate::api::{MARKUP_CODES, NOT_MODIFIED};
use crate::events::{TelegramChat, chat_name, chat_type, query_id};
use crate::markdown::render;

mod call_parameters;

use call_parameters::{
    CallParameters, TOPIC_NAME_CHARS_MAX, TextField, caption, external_url, keyboard, media_method,
    message_id,
};

#[async_trait]
impl Deliver for Telegram {
    async fn deliver(&self, bot: &Bot, send: &Send) -> Result<Receipt, DeliverError> {
        let asked = CallParameters::for_send(send)?;
        match &send.op {
            Op::Send { content, reply_to } => {
                let asked = with_stop_button(asked.reply_to(reply_to.as_deref()), bot, send)?;
                self.send_text(bot, asked, content).await
            }
            Op::Prompt { content, prompt_id, options, reply_to, .. } => {
                let asked = asked.reply_to(reply_to.as_deref());
                let asked = asked.with("reply_markup", keyboard(prompt_id, options)?);
                self.send_text(bot, asked, content).await
            }
            Op::SendMedia { media_kind, source_url, content, reply_to, .. } => {
                let (method, field) = media_method(media_kind);
                let asked =
                    asked.reply_to(reply_to.as_deref()).with(field, external_url(source_url)?);
                self.create_message(bot, method, asked, caption(content)?).await
            }
            Op::Edit { message_id: id, content } => {
                // Without a keyboard, an edit removes the one that the message has.
                let asked = with_stop_button(asked.with("message_id", message_id(id)?), bot, send)?;
                let text = TextField { name: "text", text: content };
                let edited = self.call_with_text(bot, "editMessageText", asked, text).await;
                let receipt = Receipt { message_id: Some(id.clone()), ..Receipt::default() };
                match edited {
                    // The message already has this text.
                    Err(PlatformCallError::Refused(no)) if no.is_one_of(&[NOT_MODIFIED]) => {
                        Ok(receipt)
                    }
                    Err(error) => Err(error.into()),
                    Ok::<Value, _>(_) => Ok(receipt),
                }
            }
            Op::Delete { message_id: id } => {
                self.call_without_result(
                    bot,
                    "deleteMessage",
                    asked.with("message_id", message_id(id)?),
                )
                .await
            }
            Op::React { message_id: id, emoji, remove } => {
                let shown = [json!({ "type": "emoji", "emoji": emoji })];
                let reaction = if *remove { &[] } else { &shown[..] };
                let asked = asked.with("message_id", message_id(id)?);
                self.call_without_result(
                    bot,
                    "setMessageReaction",
                    asked.with("reaction", reaction),
                )
                .await
            }
            // Telegram has no status text, and clears the indicator itself.
            Op::Typing { content: Some(content) } if content.is_empty() => Ok(Receipt::default()),
            Op::Typing { .. } => {
                self.call_without_result(bot, "sendChatAction", asked.with("action", "typing"))
                    .await
            }
            Op::ThreadCreate { thread_name } => self.open_topic(bot, asked, thread_name).await,
            Op::ThreadRename { message_id, thread_name } => {
                // Telegram does not report a topic's creator or name.
                if !send.conditions().is_none() {
                    return Err(DeliverError::refused("condition_not_known"));
                }
                self.rename_topic(bot, asked, message_id, thread_name).await
            }
            Op::GetChatInfo => self.chat_info(bot, asked, &send.chat_id).await,
            Op::Draft { draft_id, content, is_final: false } => {
                self.show_draft(bot, asked.with("draft_id", *draft_id), content).await
            }
            // A message replaces the draft.
            Op::Draft { content, is_final: true, .. } => self.send_text(bot, asked, content).await,
            Op::TaskCard { .. } | Op::TaskCardStop { .. } | Op::FollowUp { .. } => {
                Err(DeliverError::Unsupported)
            }
        }
    }

    async fn upload(
        &self,
        bot: &Bot,
        send: &Send,
        file: &File,
        _name: &str,
    ) -> Result<Receipt, DeliverError> {
        let Op::SendMedia { media_kind, content, reply_to, filename, .. } = &send.op else {
            return Err(DeliverError::Unsupported);
        };
        let (method, field) = media_method(media_kind);
        let asked = CallParameters::for_send(send)?.reply_to(reply_to.as_deref());
        let asked = asked.with_upload(field, file.with_filename(filename.as_ref()));
        self.create_message(bot, method, asked, caption(content)?).await
    }

    async fn answer_press(&self, bot: &Bot, key: &str) -> Result<(), DeliverError> {
        let Some(id) = query_id(key) else { return Ok(()) };
        let asked = json!({ "callback_query_id": id });
        self.api.call::<Value>(bot.key.as_ref(), "answerCallbackQuery", &asked).await?;
        Ok(())
    }
}

/// Adds the stop button of an unfinished answer.
fn with_stop_button(
    asked: CallParameters,
    bot: &Bot,
    send: &Send,
) -> Result<CallParameters, DeliverError> {
    match StopButton::of_send(bot, send) {
        StopButton::Shown(prompt) => {
            Ok(asked.with("reply_markup", keyboard(prompt, &StopButton::options())?))
        }
        StopButton::Removed | StopButton::Unchanged => Ok(asked),
    }
}

/// A created message, of which only the id is used.
#[derive(Deserialize)]
struct CreatedMessage {
    message_id: i64,
}

#[derive(Deserialize)]
struct Topic {
    message_thread_id: i64,
}

impl Telegram {
    async fn send_text(
        &self,
        bot: &Bot,
        asked: CallParameters,
        content: &str,
    ) -> Result<Receipt, DeliverError> {
        let text = message_text(content)?;
        self.create_message(bot, "sendMessage", asked, TextField { name: "text", text: &text })
            .await
    }

    /// Shows a draft. Telegram supports that in private chats and refuses it in others.
    async fn show_draft(
        &self,
        bot: &Bot,
        asked: CallParameters,
        text: &str,
    ) -> Result<Receipt, DeliverError> {
        let text = TextField { name: "text", text };
        self.call_with_text::<Value>(bot, "sendMessageDraft", asked, text).await?;
        Ok(Receipt::default())
    }

    /// Creates a message.
    async fn create_message(
        &self,
        bot: &Bot,
        method: &str,
        asked: CallParameters,
        text: TextField<'_>,
    ) -> Result<Receipt, DeliverError> {
        let CreatedMessage { message_id } = self.call_with_text(bot, method, asked, text).await?;
        // A scheduled message has no id yet.
        let message_id = Some(message_id).filter(|id| *id != 0).map(|id| id.to_string());
        Ok(Receipt { message_id, ..Receipt::default() })
    }

    /// Makes a call with a text: first with markup, then plain if Telegram cannot parse the markup. An unparsable call
    /// was not executed, so nothing is sent twice.
    async fn call_with_text<T: DeserializeOwned>(
        &self,
        bot: &Bot,
        method: &str,
        asked: CallParameters,
        text: TextField<'_>,
    ) -> Result<T, PlatformCallError> {
        let TextField { name, text } = text;
        let marked = asked.clone().with(name, render(text)).with("parse_mode", "MarkdownV2");
        match self.call_api(bot, method, marked).await {
            Err(PlatformCallError::Refused(no)) if no.is_one_of(&MARKUP_CODES) => {
                self.call_api(bot, method, asked.with(name, text)).await
            }
            answered => answered,
        }
    }

    async fn call_api<T: DeserializeOwned>(
        &self,
        bot: &Bot,
        method: &str,
        mut asked: CallParameters,
    ) -> Result<T, PlatformCallError> {
        let (key, upload) = (bot.key.as_ref(), asked.upload.take());
        let asked = asked.into_json();
        match upload {
            Some(upload) => self.api.upload(key, method, &asked, upload).await,
            None => self.api.call(key, method, &asked).await,
        }
    }

    /// Makes a call that returns no id.
    async fn call_without_result(
        &self,
        bot: &Bot,
        method: &str,
        asked: CallParameters,
    ) -> Result<Receipt, DeliverError> {
        self.api.call::<Value>(bot.key.as_ref(), method, &asked.into_json()).await?;
        Ok(Receipt::default())
    }

    async fn open_topic(
        &self,
        bot: &Bot,
        asked: CallParameters,
        name: &str,
    ) -> Result<Receipt, DeliverError> {
        let name = thread_name(name, TOPIC_NAME_CHARS_MAX)?;
        let asked = asked.with("name", name).into_json();
        let topic: Topic = self.api.call(bot.key.as_ref(), "createForumTopic", &asked).await?;
        let thread_id = Some(topic.message_thread_id.to_string());
        Ok(Receipt { thread_id, ..Receipt::default() })
    }

    async fn rename_topic(
        &self,
        bot: &Bot,
        asked: CallParameters,
        topic: &str,
        name: &str,
    ) -> Result<Receipt, DeliverError> {
        let topic: i64 = topic.parse().map_err(|_| DeliverError::refused("thread_not_found"))?;
        let name = thread_name(name, TOPIC_NAME_CHARS_MAX)?;
        let asked = asked.with("message_thread_id", topic).with("name", name);
        match self.api.call(bot.key.as_ref(), "editForumTopic", &asked.into_json()).await {
            // The topic already has this name.
            Err(PlatformCallError::Refused(no)) if no.is_one_of(&[NOT_MODIFIED]) => {
                Ok(Receipt::default())
            }
            renamed => Ok(renamed.map(|_: Value| Receipt::default())?),
        }
    }

    async fn chat_info(
        &self,
        bot: &Bot,
        asked: CallParameters,
        id: &str,
    ) -> Result<Receipt, DeliverError> {
        let chat: TelegramChat =
            self.api.call(bot.key.as_ref(), "getChat", &asked.into_json()).await?;
        let name = chat_name(&chat).unwrap_or_else(|| id.to_owned());
        let info = ChatInfo { name, kind: chat_type(&chat).as_str().to_owned() };
        Ok(Receipt { chat: Some(info), ..Receipt::default() })
    }
}

#[cfg(test)]
mod tests;
