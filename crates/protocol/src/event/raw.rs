//! A message as the SDK receives it.

use nightdesk_types::event::{
    ContextLine, FireEvent, LetterEvent, LetterOrigin, Media, Message, MessageKind, PromptResponse,
    ReplyTo,
};
use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::Error;

use super::Inbound;
use crate::{source, tolerant};

/// The `event` of an `inbound` frame, with all fields optional.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct RawEvent {
    #[serde(deserialize_with = "tolerant::text_or_empty")]
    text: String,
    #[serde(deserialize_with = "tolerant::text")]
    message_type: Option<String>,
    #[serde(deserialize_with = "tolerant::text")]
    message_id: Option<String>,
    #[serde(deserialize_with = "tolerant::object")]
    source: Option<source::RawSource>,
    #[serde(deserialize_with = "tolerant::text")]
    reply_to_message_id: Option<String>,
    #[serde(deserialize_with = "tolerant::object")]
    reply_to: Option<RawReply>,
    #[serde(deserialize_with = "tolerant::texts")]
    media_urls: Vec<String>,
    #[serde(deserialize_with = "tolerant::objects")]
    media: Vec<RawMedia>,
    #[serde(deserialize_with = "tolerant::objects")]
    context: Vec<RawContextLine>,
    #[serde(deserialize_with = "tolerant::truth")]
    context_error: bool,
    #[serde(deserialize_with = "tolerant::object")]
    prompt_response: Option<RawPress>,
    #[serde(deserialize_with = "tolerant::object")]
    fire: Option<RawFire>,
    #[serde(deserialize_with = "tolerant::object")]
    letter: Option<RawLetter>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct RawReply {
    #[serde(deserialize_with = "tolerant::text")]
    text: Option<String>,
    #[serde(deserialize_with = "tolerant::text")]
    author: Option<String>,
    #[serde(deserialize_with = "tolerant::truth")]
    is_own: bool,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct RawMedia {
    #[serde(deserialize_with = "tolerant::text_or_empty")]
    url: String,
    #[serde(deserialize_with = "tolerant::text")]
    mime: Option<String>,
    #[serde(deserialize_with = "tolerant::text")]
    kind: Option<String>,
    #[serde(deserialize_with = "tolerant::count")]
    size: Option<u64>,
    #[serde(deserialize_with = "tolerant::text")]
    filename: Option<String>,
    #[serde(deserialize_with = "tolerant::text")]
    caption: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct RawContextLine {
    #[serde(deserialize_with = "tolerant::text_or_empty")]
    text: String,
    #[serde(deserialize_with = "tolerant::object")]
    source: Option<RawSpeaker>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct RawSpeaker {
    #[serde(deserialize_with = "tolerant::text")]
    user_name: Option<String>,
    #[serde(deserialize_with = "tolerant::text")]
    user_id: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct RawPress {
    #[serde(deserialize_with = "tolerant::text_or_empty")]
    prompt_id: String,
    #[serde(deserialize_with = "tolerant::text_or_empty")]
    option_id: String,
    #[serde(deserialize_with = "tolerant::text")]
    label: Option<String>,
    #[serde(deserialize_with = "tolerant::text")]
    prompt_message_id: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct RawFire {
    #[serde(deserialize_with = "tolerant::text_or_empty")]
    job_id: String,
    #[serde(deserialize_with = "tolerant::text_or_empty")]
    fire_at: String,
    #[serde(deserialize_with = "tolerant::text_or_empty")]
    fire_id: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct RawLetter {
    #[serde(deserialize_with = "tolerant::text_or_empty")]
    letter_id: String,
    #[serde(deserialize_with = "tolerant::text_or_empty")]
    from: String,
    #[serde(deserialize_with = "tolerant::text_or_empty")]
    dispatch_id: String,
    #[serde(deserialize_with = "tolerant::text_or_empty")]
    kind: String,
    #[serde(deserialize_with = "tolerant::text")]
    session_id: Option<String>,
    #[serde(deserialize_with = "tolerant::text")]
    event_type: Option<String>,
    #[serde(deserialize_with = "tolerant::text")]
    correlation_id: Option<String>,
    #[serde(deserialize_with = "tolerant::object")]
    origin: Option<RawOrigin>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct RawOrigin {
    #[serde(deserialize_with = "tolerant::text_or_empty")]
    skill_name: String,
    #[serde(deserialize_with = "tolerant::text")]
    entry_skill_name: Option<String>,
    #[serde(deserialize_with = "tolerant::text_or_empty")]
    trigger_kind: String,
    #[serde(deserialize_with = "tolerant::text")]
    caller_agent_id: Option<String>,
}

impl From<RawEvent> for Inbound {
    fn from(raw: RawEvent) -> Self {
        let mut source = raw.source.unwrap_or_default();
        let is_edit = source.message_is_edit;
        let bot_handle = source.bot_handle.take().filter(|handle| !handle.is_empty());
        let media = if raw.media.is_empty() {
            raw.media_urls.into_iter().map(|url| Media { url, ..Media::default() }).collect()
        } else {
            raw.media.into_iter().map(Media::from).collect()
        };
        let message = Message {
            text: raw.text,
            kind: message_kind(raw.message_type.as_deref().unwrap_or_default()),
            message_id: raw.message_id,
            reply_to: reply_to(raw.reply_to_message_id, raw.reply_to),
            media,
            context: raw.context.into_iter().map(ContextLine::from).collect(),
            context_failed: raw.context_error,
            prompt_response: raw.prompt_response.map(PromptResponse::from),
            fire: raw.fire.map(FireEvent::from),
            letter: raw.letter.map(LetterEvent::from),
            is_edit,
            // Only the desk uses it.
            mentions_bot: false,
        };
        Self { source: source.into(), message, bot_handle }
    }
}

fn reply_to(message_id: Option<String>, reply: Option<RawReply>) -> Option<ReplyTo> {
    if message_id.is_none() && reply.is_none() {
        return None;
    }
    let RawReply { text, author, is_own } = reply.unwrap_or_default();
    Some(ReplyTo { message_id, text, author, is_own })
}

/// Returns the kind. An unknown kind is read as text, as every client does.
fn message_kind(name: &str) -> MessageKind {
    let named: Result<_, Error> = MessageKind::deserialize(name.into_deserializer());
    named.unwrap_or_default()
}

impl From<RawLetter> for LetterEvent {
    fn from(raw: RawLetter) -> Self {
        let RawLetter {
            letter_id,
            from,
            dispatch_id,
            kind,
            session_id,
            event_type,
            correlation_id,
            origin,
        } = raw;
        let origin = origin.map(LetterOrigin::from);
        Self { letter_id, from, dispatch_id, kind, session_id, event_type, correlation_id, origin }
    }
}

impl From<RawOrigin> for LetterOrigin {
    fn from(raw: RawOrigin) -> Self {
        let RawOrigin { skill_name, entry_skill_name, trigger_kind, caller_agent_id } = raw;
        Self { skill_name, entry_skill_name, trigger_kind, caller_agent_id }
    }
}

impl From<RawFire> for FireEvent {
    fn from(raw: RawFire) -> Self {
        let RawFire { job_id, fire_at, fire_id } = raw;
        Self { job_id, fire_at, fire_id }
    }
}

impl From<RawMedia> for Media {
    fn from(raw: RawMedia) -> Self {
        let RawMedia { url, mime, kind, size, filename, caption } = raw;
        Self { url, mime, kind, size, filename, caption }
    }
}

impl From<RawContextLine> for ContextLine {
    fn from(raw: RawContextLine) -> Self {
        let RawSpeaker { user_name, user_id } = raw.source.unwrap_or_default();
        Self { text: raw.text, user_name, user_id }
    }
}

impl From<RawPress> for PromptResponse {
    fn from(raw: RawPress) -> Self {
        let RawPress { prompt_id, option_id, label, prompt_message_id } = raw;
        Self { prompt_id, option_id, label, prompt_message_id }
    }
}
