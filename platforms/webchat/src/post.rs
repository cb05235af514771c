//! Converts a page's posts to events, and defines the features of a page.

use std::num::NonZeroU32;

use nightdesk_port::{Bot, CallRate, LengthUnit, PlatformCapabilities};
use nightdesk_types::event::{
    ChatType, Content, Draft, Message, MessageKind, PromptResponse, Source,
};
use nightdesk_types::limits::{CHAT_NONCE_CHARS_MAX, CHAT_TEXT_CHARS_MAX};
use serde::{Deserialize, Serialize};

use crate::button::Press;

/// The status of a chat whose agent is working.
pub const TYPING: &str = "typing…";

/// Supported ops.
const OPS: [&str; 6] = ["send", "edit", "delete", "typing", "prompt", "get_chat_info"];

/// A page's post.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PagePost {
    /// The page's id of the post, by which a repeat is detected.
    pub nonce: String,
    /// The text.
    pub text: String,
    /// The value of the pressed button.
    pub press: Option<String>,
}

/// Reasons to reject a page's post.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PagePostError {
    /// The format is not that of the desk's page.
    #[error("the request is not a message of the chat page")]
    Unreadable,
    /// The text is empty.
    #[error("the message is empty")]
    Empty,
    /// The text is too long.
    #[error("the message is too long")]
    TooLong,
}

impl PagePost {
    /// Parses the format of the page's script.
    pub fn from_json(body: &[u8]) -> Result<Self, PagePostError> {
        // The error of `serde` may quote the text, so it is discarded.
        let posted: Self = serde_json::from_slice(body).map_err(|_| PagePostError::Unreadable)?;
        posted.check()
    }

    /// Parses the format of the page's form, which is used without a script.
    pub fn from_form(body: &[u8]) -> Result<Self, PagePostError> {
        let [mut nonce, mut text, mut press] = [None, None, None];
        for (name, value) in form_urlencoded::parse(body) {
            let field = match &*name {
                "nonce" => &mut nonce,
                "text" => &mut text,
                "press" => &mut press,
                _ => continue,
            };
            // Another reader may take the first of two values.
            if field.replace(value.into_owned()).is_some() {
                return Err(PagePostError::Unreadable);
            }
        }
        let [nonce, text] = [nonce, text].map(Option::unwrap_or_default);
        Self { nonce, text, press }.check()
    }

    fn check(mut self) -> Result<Self, PagePostError> {
        if !is_nonce(&self.nonce) {
            return Err(PagePostError::Unreadable);
        }
        // A form sends line ends as CRLF; PostgreSQL refuses U+0000.
        let text = self.text.replace("\r\n", "\n").replace('\0', "");
        text.trim().clone_into(&mut self.text);
        if self.text.chars().count() > CHAT_TEXT_CHARS_MAX {
            return Err(PagePostError::TooLong);
        }
        if self.text.is_empty() && self.press.is_none() {
            return Err(PagePostError::Empty);
        }
        Ok(self)
    }

    /// Returns the post in the format of the script.
    pub fn to_json(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }
}

fn is_nonce(nonce: &str) -> bool {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-';
    (1..=CHAT_NONCE_CHARS_MAX).contains(&nonce.len()) && nonce.bytes().all(plain)
}

/// Converts a visitor's post to an event.
pub(crate) fn convert_post(
    bot: &Bot,
    visitor: &str,
    posted: PagePost,
    press: Option<Press>,
) -> Draft {
    let source = Source {
        platform: bot.platform.clone(),
        chat_id: visitor.to_owned(),
        chat_type: ChatType::Dm,
        user_id: Some(visitor.to_owned()),
        user_name: Some(visitor_name(visitor)),
        message_id: Some(posted.nonce.clone()),
        ..Source::default()
    };
    let key = format!("{visitor}:{}", posted.nonce);
    let message = Message {
        text: press.as_ref().map_or(posted.text, |press| press.label.clone()),
        kind: MessageKind::Text,
        message_id: Some(posted.nonce),
        prompt_response: press.map(|press| PromptResponse {
            prompt_id: press.prompt_id,
            option_id: press.option_id,
            label: Some(press.label),
            prompt_message_id: None,
        }),
        ..Message::default()
    };
    Draft { key, source, content: Content::Message(Box::new(message)) }
}

/// Returns a visitor's name for agents.
pub(crate) fn visitor_name(visitor: &str) -> String {
    format!("Visitor {}", visitor.get(..4).unwrap_or(visitor))
}

/// Returns the features of a page.
pub(crate) fn capabilities() -> PlatformCapabilities {
    const A_CHAT: NonZeroU32 = NonZeroU32::new(5).unwrap();
    const ALL_CHATS: NonZeroU32 = NonZeroU32::new(200).unwrap();
    PlatformCapabilities {
        label: "Web chat".to_owned(),
        message_length_max: u32::try_from(CHAT_TEXT_CHARS_MAX).unwrap_or(u32::MAX),
        length_unit: LengthUnit::Chars,
        markdown_dialect: "markdown".to_owned(),
        emoji: "💬",
        // A page has one visitor, and no mentions.
        is_pii_safe: true,
        hint: "A private page for one visitor. Markdown is rendered; HTML and images are not."
            .to_owned(),
        ops: OPS.to_vec(),
        threads: false,
        chat_pace: CallRate::per_second(A_CHAT),
        bot_pace: CallRate::per_second(ALL_CHATS),
    }
}

#[cfg(test)]
mod tests;
