//! Words: what a page posts in our words, and what a page can show.

use std::num::NonZeroU32;

use nightdesk_port::{Bot, Capabilities, LengthUnit, Pace};
use nightdesk_types::event::{
    ChatType, Content, Draft, Message, MessageKind, PromptResponse, Source,
};
use nightdesk_types::limits::{CHAT_NONCE_CHARS_MAX, CHAT_TEXT_CHARS_MAX};
use serde::{Deserialize, Serialize};

use crate::button::Press;

/// The status of a chat whose agent is at work.
pub const TYPING: &str = "typing…";

/// The ops a page can show.
const OPS: [&str; 6] = ["send", "edit", "delete", "typing", "prompt", "get_chat_info"];

/// What a page posts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Posted {
    /// The page's name for it, so that a repeat is recognised.
    pub nonce: String,
    /// What was written.
    pub text: String,
    /// The button that was pressed, as it was given out.
    pub press: Option<String>,
}

/// Why a page's post is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PostedError {
    /// It is not what our page sends.
    #[error("not a message of our page")]
    Unreadable,
    /// Nothing was written.
    #[error("the message is empty")]
    Empty,
    /// Too much was written.
    #[error("the message is too long")]
    TooLong,
}

impl Posted {
    /// Reads what the page's script sends.
    pub fn from_json(body: &[u8]) -> Result<Self, PostedError> {
        // What `serde` would say about it may quote the text, so it is not asked.
        let posted: Self = serde_json::from_slice(body).map_err(|_| PostedError::Unreadable)?;
        posted.checked()
    }

    /// Reads what the page's form sends where there is no script.
    pub fn from_form(body: &[u8]) -> Result<Self, PostedError> {
        let mut posted = Self::default();
        for (name, value) in form_urlencoded::parse(body) {
            match &*name {
                "nonce" => posted.nonce = value.into_owned(),
                "text" => posted.text = value.into_owned(),
                "press" => posted.press = Some(value.into_owned()),
                _ => {}
            }
        }
        posted.checked()
    }

    fn checked(mut self) -> Result<Self, PostedError> {
        if !is_nonce(&self.nonce) {
            return Err(PostedError::Unreadable);
        }
        // A form writes its line ends as on the wire; PostgreSQL refuses U+0000.
        let text = self.text.replace("\r\n", "\n").replace('\0', "");
        text.trim().clone_into(&mut self.text);
        if self.text.chars().count() > CHAT_TEXT_CHARS_MAX {
            return Err(PostedError::TooLong);
        }
        if self.text.is_empty() && self.press.is_none() {
            return Err(PostedError::Empty);
        }
        Ok(self)
    }

    /// The same as the script would send it.
    pub fn to_json(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }
}

fn is_nonce(nonce: &str) -> bool {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-';
    (1..=CHAT_NONCE_CHARS_MAX).contains(&nonce.len()) && nonce.bytes().all(plain)
}

/// What a visitor said, as an event.
pub(crate) fn draft(bot: &Bot, visitor: &str, posted: Posted, press: Option<Press>) -> Draft {
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

/// What agents call a visitor.
pub(crate) fn visitor_name(visitor: &str) -> String {
    format!("Visitor {}", visitor.get(..4).unwrap_or(visitor))
}

/// What a page can show.
pub(crate) fn capabilities() -> Capabilities {
    const A_CHAT: NonZeroU32 = NonZeroU32::new(5).unwrap();
    const ALL_CHATS: NonZeroU32 = NonZeroU32::new(200).unwrap();
    Capabilities {
        label: "Web chat".to_owned(),
        message_length_max: u32::try_from(CHAT_TEXT_CHARS_MAX).unwrap_or(u32::MAX),
        length_unit: LengthUnit::Chars,
        markdown_dialect: "markdown".to_owned(),
        hint: "A private page for one visitor. Markdown is shown; HTML and images are not."
            .to_owned(),
        ops: OPS.to_vec(),
        threads: false,
        chat_pace: Pace::per_second(A_CHAT),
        bot_pace: Pace::per_second(ALL_CHATS),
    }
}

#[cfg(test)]
mod tests;
