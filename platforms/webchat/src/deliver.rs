//! Writes an agent's message to the transcript, and rings the bell for the page.

use async_trait::async_trait;
use nightdesk_port::{Bot, ChatInfo, Deliver, DeliverError, Receipt};
use nightdesk_types::limits::{CHAT_OPTIONS_MAX, CHAT_STATUS_CHARS_MAX, CHAT_TEXT_CHARS_MAX};
use nightdesk_types::send::{Op, PromptOption};
use nightdesk_types::{Send, StoreError};

use crate::Webchat;
use crate::post::{TYPING, visitor_name};
use crate::session::is_visitor;
use crate::store::{AgentMessage, ChatPrompt, LineChange, VisitorChat};

#[async_trait]
impl Deliver for Webchat {
    async fn deliver(&self, bot: &Bot, send: &Send) -> Result<Receipt, DeliverError> {
        if !is_visitor(&send.chat_id) {
            return Err(DeliverError::refused("no_such_chat"));
        }
        let chat = VisitorChat { scope: bot.operator, bot: bot.id, visitor: send.chat_id.clone() };
        let receipt = self.call(&chat, &send.op).await?;
        if !matches!(send.op, Op::GetChatInfo) {
            self.ring_pages(&chat).await;
        }
        Ok(receipt)
    }
}

impl Webchat {
    async fn call(&self, chat: &VisitorChat, op: &Op) -> Result<Receipt, DeliverError> {
        match op {
            Op::Send { content, .. } => self.send_text(chat, content, None).await,
            Op::Prompt { content, prompt_id, options, .. } => {
                let prompt = check_prompt(prompt_id, options)?;
                self.send_text(chat, content, Some(prompt)).await
            }
            Op::Edit { message_id, content } => {
                let text = check_text(content)?;
                self.change_line(chat, message_id, LineChange::Edit(text)).await
            }
            Op::Delete { message_id } => {
                self.change_line(chat, message_id, LineChange::Delete).await
            }
            Op::Typing { content } => self.show_status(chat, content.as_deref()).await,
            Op::GetChatInfo => {
                Ok(Receipt { chat: Some(chat_description(chat)), ..Receipt::default() })
            }
            Op::Draft { .. }
            | Op::TaskCard { .. }
            | Op::TaskCardStop { .. }
            | Op::SendMedia { .. }
            | Op::React { .. }
            | Op::ThreadCreate { .. }
            | Op::ThreadRename { .. }
            | Op::FollowUp { .. } => Err(DeliverError::Unsupported),
        }
    }

    async fn send_text(
        &self,
        chat: &VisitorChat,
        content: &str,
        prompt: Option<ChatPrompt>,
    ) -> Result<Receipt, DeliverError> {
        let answer = AgentMessage { at: self.now(), text: check_text(content)?, prompt };
        let message =
            self.store.write_agent_message(chat, &answer).await.map_err(ambiguous_error)?;
        Ok(Receipt { message_id: Some(message.to_string()), ..Receipt::default() })
    }

    async fn change_line(
        &self,
        chat: &VisitorChat,
        message_id: &str,
        amend: LineChange,
    ) -> Result<Receipt, DeliverError> {
        let message: i64 =
            message_id.parse().map_err(|_| DeliverError::refused("no_such_message"))?;
        if !self.store.change_line(chat, message, &amend).await.map_err(ambiguous_error)? {
            return Err(DeliverError::refused("no_such_message"));
        }
        Ok(Receipt { message_id: Some(message_id.to_owned()), ..Receipt::default() })
    }

    /// Shows a status. Without a text it is the default one; an empty text clears it.
    async fn show_status(
        &self,
        chat: &VisitorChat,
        content: Option<&str>,
    ) -> Result<Receipt, DeliverError> {
        let text: String = content.unwrap_or(TYPING).chars().take(CHAT_STATUS_CHARS_MAX).collect();
        let text = text.replace('\0', "");
        let text = Some(text.trim()).filter(|text| !text.is_empty());
        self.store.set_status(chat, text).await.map_err(ambiguous_error)?;
        Ok(Receipt::default())
    }
}

fn check_text(content: &str) -> Result<String, DeliverError> {
    let text = content.replace('\0', "");
    if text.trim().is_empty() {
        return Err(DeliverError::refused("empty_message"));
    }
    if text.chars().count() > CHAT_TEXT_CHARS_MAX {
        return Err(DeliverError::refused("message_too_long"));
    }
    Ok(text)
}

fn check_prompt(id: &str, options: &[PromptOption]) -> Result<ChatPrompt, DeliverError> {
    if options.len() > CHAT_OPTIONS_MAX {
        return Err(DeliverError::refused("too_many_options"));
    }
    Ok(ChatPrompt { id: id.to_owned(), options: options.to_vec() })
}

fn chat_description(chat: &VisitorChat) -> ChatInfo {
    ChatInfo { name: visitor_name(&chat.visitor), kind: "dm".to_owned() }
}

/// Converts a store error. If the response to a commit was lost, the commit may have succeeded.
fn ambiguous_error(error: StoreError) -> DeliverError {
    DeliverError::Ambiguous(error.into())
}
