//! A message as it is sent.

use nightdesk_types::event::{
    ContextLine, Fire, Letter, LetterOrigin, Media, Message, MessageKind, PromptResponse, ReplyTo,
};
use serde::Serialize;

use crate::source;

/// The `event` of an `inbound` frame.
#[derive(Serialize)]
pub(super) struct Event<'a> {
    text: &'a str,
    message_type: MessageKind,
    message_id: Option<&'a str>,
    source: source::Wire<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reply_to_message_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reply_to: Option<Reply<'a>>,
    /// For 0.19.0, which reads only the URLs of attachments.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    media_urls: Vec<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    media: Vec<Attached<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    context: Vec<Said<'a>>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    context_error: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_response: Option<Pressed<'a>>,
    /// Stock clients ignore it.
    #[serde(skip_serializing_if = "Option::is_none")]
    fire: Option<&'a Fire>,
    #[serde(skip_serializing_if = "Option::is_none")]
    letter: Option<Lettered<'a>>,
}

#[derive(Serialize)]
struct Lettered<'a> {
    letter_id: &'a str,
    from: &'a str,
    dispatch_id: &'a str,
    kind: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    event_type: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    correlation_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    origin: Option<Origin<'a>>,
}

#[derive(Serialize)]
struct Origin<'a> {
    skill_name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    entry_skill_name: Option<&'a str>,
    trigger_kind: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    caller_agent_id: Option<&'a str>,
}

#[derive(Serialize)]
struct Reply<'a> {
    text: Option<&'a str>,
    author: Option<&'a str>,
    is_own: bool,
}

#[derive(Serialize)]
struct Attached<'a> {
    url: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    mime: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    filename: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    caption: Option<&'a str>,
}

#[derive(Serialize)]
struct Said<'a> {
    text: &'a str,
    source: Speaker<'a>,
}

#[derive(Serialize)]
struct Speaker<'a> {
    user_name: Option<&'a str>,
    user_id: Option<&'a str>,
}

#[derive(Serialize)]
struct Pressed<'a> {
    prompt_id: &'a str,
    option_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_message_id: Option<&'a str>,
}

impl<'a> Event<'a> {
    pub(super) fn of(message: &'a Message, source: source::Wire<'a>) -> Self {
        let reply_to = message.reply_to.as_ref();
        Self {
            text: &message.text,
            message_type: message.kind,
            message_id: message.message_id.as_deref(),
            source,
            reply_to_message_id: reply_to.and_then(|reply| reply.message_id.as_deref()),
            reply_to: reply_to.map(Reply::of),
            media_urls: message.media.iter().map(|media| media.url.as_str()).collect(),
            media: message.media.iter().map(Attached::of).collect(),
            context: message.context.iter().map(Said::of).collect(),
            context_error: message.context_failed,
            prompt_response: message.prompt_response.as_ref().map(Pressed::of),
            fire: message.fire.as_ref(),
            letter: message.letter.as_ref().map(Lettered::of),
        }
    }
}

impl<'a> Lettered<'a> {
    fn of(letter: &'a Letter) -> Self {
        Self {
            letter_id: &letter.letter_id,
            from: &letter.from,
            dispatch_id: &letter.dispatch_id,
            kind: &letter.kind,
            session_id: letter.session_id.as_deref(),
            event_type: letter.event_type.as_deref(),
            correlation_id: letter.correlation_id.as_deref(),
            origin: letter.origin.as_ref().map(Origin::of),
        }
    }
}

impl<'a> Origin<'a> {
    fn of(origin: &'a LetterOrigin) -> Self {
        Self {
            skill_name: &origin.skill_name,
            entry_skill_name: origin.entry_skill_name.as_deref(),
            trigger_kind: &origin.trigger_kind,
            caller_agent_id: origin.caller_agent_id.as_deref(),
        }
    }
}

impl<'a> Reply<'a> {
    fn of(reply: &'a ReplyTo) -> Self {
        let ReplyTo { message_id: _, text, author, is_own } = reply;
        Self { text: text.as_deref(), author: author.as_deref(), is_own: *is_own }
    }
}

impl<'a> Attached<'a> {
    fn of(media: &'a Media) -> Self {
        Self {
            url: &media.url,
            mime: media.mime.as_deref(),
            kind: media.kind.as_deref(),
            size: media.size,
            filename: media.filename.as_deref(),
            caption: media.caption.as_deref(),
        }
    }
}

impl<'a> Said<'a> {
    fn of(line: &'a ContextLine) -> Self {
        let ContextLine { text, user_name, user_id } = line;
        let source = Speaker { user_name: user_name.as_deref(), user_id: user_id.as_deref() };
        Self { text, source }
    }
}

impl<'a> Pressed<'a> {
    fn of(response: &'a PromptResponse) -> Self {
        Self {
            prompt_id: &response.prompt_id,
            option_id: &response.option_id,
            label: response.label.as_deref(),
            prompt_message_id: response.prompt_message_id.as_deref(),
        }
    }
}
