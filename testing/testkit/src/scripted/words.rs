//! Converts the platform's events into ours.

use std::collections::BTreeMap;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use nightdesk_port::{Capability, ReceiveError};
use nightdesk_types::event::{
    Content, ContextLine, Draft, Media, Message, MessageKind, Passthrough, PromptResponse, ReplyTo,
    Source,
};
use nightdesk_types::limits::CAPABILITY_GOOD_FOR_MAX;
use nightdesk_vault::Key;
use serde::Deserialize;
use serde_json::value::RawValue;

/// Reads the events of a body, each separately: an unreadable one does not affect the others.
pub(super) fn events(
    body: &[u8],
    platform: &str,
) -> Result<Vec<Result<Draft, ReceiveError>>, ReceiveError> {
    let envelope: Envelope<'_> = read(body)?;
    let draft = |item: &[u8]| read::<Item>(item)?.into_draft(platform);
    Ok(match envelope.events {
        Some(items) => items.into_iter().map(|item| draft(item.get().as_bytes())).collect(),
        None => vec![draft(body)],
    })
}

/// Parses JSON. The error of `serde` may quote the event, so it is dropped.
fn read<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T, ReceiveError> {
    serde_json::from_slice(bytes).map_err(|_| ReceiveError::Unreadable)
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow)]
    events: Option<Vec<&'a RawValue>>,
}

/// Returns the capability that was lent with the one event of a body, if there is one.
pub(super) fn capability(body: &[u8]) -> Option<Capability> {
    let Bearing { capability } = read(body).ok()?;
    let Loan { kind, value, expires_in_s } = capability?;
    let good_for = expires_in_s.map_or(CAPABILITY_GOOD_FOR_MAX, Duration::from_secs);
    Some(Capability { kind, secret: Key::new(value), good_for })
}

#[derive(Deserialize)]
struct Bearing {
    capability: Option<Loan>,
}

#[derive(Deserialize)]
struct Loan {
    kind: String,
    value: String,
    expires_in_s: Option<u64>,
}

#[derive(Deserialize)]
struct Item {
    id: String,
    event: Said,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Said {
    Forwarded { passthrough: Box<Forwarded> },
    Written(Box<Written>),
}

#[derive(Deserialize)]
struct Written {
    source: Source,
    #[serde(default)]
    text: String,
    #[serde(default)]
    message_type: MessageKind,
    message_id: Option<String>,
    reply_to: Option<ReplyTo>,
    #[serde(default)]
    media: Vec<Media>,
    #[serde(default)]
    context: Vec<ContextLine>,
    prompt_response: Option<PromptResponse>,
    #[serde(default)]
    is_edit: bool,
    #[serde(default)]
    mentions_bot: bool,
}

#[derive(Deserialize)]
struct Forwarded {
    method: String,
    path: String,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    #[serde(default)]
    body_b64: String,
    #[serde(flatten)]
    source: Source,
}

impl Item {
    fn into_draft(self, platform: &str) -> Result<Draft, ReceiveError> {
        let (source, content) = match self.event {
            Said::Forwarded { passthrough } => passthrough.into_parts()?,
            Said::Written(written) => written.into_parts(),
        };
        // The bot determines the platform: a request cannot claim another one.
        let source = Source { platform: platform.to_owned(), ..source };
        Ok(Draft { key: self.id, source, content })
    }
}

impl Written {
    fn into_parts(self) -> (Source, Content) {
        let message = Message {
            text: self.text,
            kind: self.message_type,
            message_id: self.message_id,
            reply_to: self.reply_to,
            media: self.media,
            context: self.context,
            context_failed: false,
            prompt_response: self.prompt_response,
            // Only the desk sets it.
            fire: None,
            letter: None,
            is_edit: self.is_edit,
            mentions_bot: self.mentions_bot,
        };
        (self.source, Content::Message(Box::new(message)))
    }
}

impl Forwarded {
    fn into_parts(self) -> Result<(Source, Content), ReceiveError> {
        let body = STANDARD.decode(self.body_b64).map_err(|_| ReceiveError::Unreadable)?;
        let request = Passthrough {
            method: self.method,
            path: self.path,
            headers: self.headers.into_iter().collect(),
            body,
        };
        Ok((self.source, Content::Passthrough(request)))
    }
}
