//! A message as it is sent.

use nightdesk_types::event::{
    ContextLine, FireEvent, LetterEvent, Media, Message, MessageKind, PromptResponse, ReplyTo,
};
use serde::Serialize;

use crate::source;

/// The `event` of an `inbound` frame.
#[derive(Serialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub(super) struct WireEvent<'a> {
    text: &'a str,
    message_type: MessageKind,
    message_id: Option<&'a str>,
    source: source::WireSource<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reply_to_message_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reply_to: Option<WireReply<'a>>,
    /// For 0.19.0, which reads only the URLs of attachments.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    media_urls: Vec<&'a str>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    media: &'a [Media],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    context: Vec<WireContextLine<'a>>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    context_error: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_response: Option<&'a PromptResponse>,
    /// Stock clients ignore it.
    #[serde(skip_serializing_if = "Option::is_none")]
    fire: Option<&'a FireEvent>,
    #[serde(skip_serializing_if = "Option::is_none")]
    letter: Option<&'a LetterEvent>,
}

#[derive(Serialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
struct WireReply<'a> {
    text: Option<&'a str>,
    author: Option<&'a str>,
    is_own: bool,
}

#[derive(Serialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
struct WireContextLine<'a> {
    text: &'a str,
    source: WireSpeaker<'a>,
}

#[derive(Serialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
struct WireSpeaker<'a> {
    user_name: Option<&'a str>,
    user_id: Option<&'a str>,
}

impl<'a> WireEvent<'a> {
    pub(super) fn from_message(message: &'a Message, source: source::WireSource<'a>) -> Self {
        let reply_to = message.reply_to.as_ref();
        Self {
            text: &message.text,
            message_type: message.kind,
            message_id: message.message_id.as_deref(),
            source,
            reply_to_message_id: reply_to.and_then(|reply| reply.message_id.as_deref()),
            reply_to: reply_to.map(WireReply::from_reply),
            media_urls: message.media.iter().map(|media| media.url.as_str()).collect(),
            media: &message.media,
            context: message.context.iter().map(WireContextLine::from_line).collect(),
            context_error: message.context_failed,
            prompt_response: message.prompt_response.as_ref(),
            fire: message.fire.as_ref(),
            letter: message.letter.as_ref(),
        }
    }
}

impl<'a> WireReply<'a> {
    fn from_reply(reply: &'a ReplyTo) -> Self {
        let ReplyTo { message_id: _, text, author, is_own } = reply;
        Self { text: text.as_deref(), author: author.as_deref(), is_own: *is_own }
    }
}

impl<'a> WireContextLine<'a> {
    fn from_line(line: &'a ContextLine) -> Self {
        let ContextLine { text, user_name, user_id } = line;
        let source = WireSpeaker { user_name: user_name.as_deref(), user_id: user_id.as_deref() };
        Self { text, source }
    }
}
