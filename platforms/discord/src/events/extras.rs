//! Converts the content of a message besides its text.

use nightdesk_kit::content::{MessageExtras, poll_text};
use nightdesk_types::event::{Media, MessageKind};

use super::FileRef;
use super::message::{Attachment, DiscordMessage, Poll, Sticker};

/// Maximum files of one message, as at Discord.
const FILES_MAX: usize = 10;

/// Maximum choices of a poll, as at Discord.
const ANSWERS_MAX: usize = 10;

/// Flag of a voice message.
const VOICE: u64 = 1 << 13;

/// Sticker format of vector animations.
const DRAWN: u8 = 3;

/// Returns the content of a message besides its text. The text of a forwarded message stands in for its own.
pub(super) fn extras(message: &DiscordMessage) -> MessageExtras {
    let passed = message.message_snapshots.first().map(|snapshot| &snapshot.message);
    let mut media: Vec<Media> =
        message.files().take(FILES_MAX).map(|file| attachment_media(message, file)).collect();
    let words = passed.map(|passed| passed.content.trim().to_owned()).unwrap_or_default();
    if let Some(sticker) = message.sticker_items.first().filter(|_| media.is_empty()) {
        media.push(sticker_media(sticker));
        return MessageExtras { kind: MessageKind::Sticker, media, words: sticker.name.clone() };
    }
    let kind =
        media.first().and_then(|media| media.kind.as_deref()).map(message_kind).unwrap_or_default();
    let poll = || message.poll.as_ref().map(question).unwrap_or_default();
    MessageExtras { kind, media, words: if words.is_empty() { poll() } else { words } }
}

fn attachment_media(message: &DiscordMessage, file: &Attachment) -> Media {
    let is_voice = message.flags & VOICE != 0;
    let (channel, id) = (message.channel_id, message.id);
    let reference = FileRef::Attached { channel, message: id, file: file.id };
    let mime = file.content_type.clone();
    let class = mime.as_deref().and_then(|mime| mime.split('/').next()).unwrap_or_default();
    let kind = match class {
        "audio" if is_voice => "voice",
        "image" | "video" | "audio" => class,
        _ => "document",
    };
    Media {
        url: reference.to_reference(),
        kind: Some(kind.to_owned()),
        mime: mime.or_else(|| Some("application/octet-stream".to_owned())),
        size: file.size,
        filename: file.filename.clone(),
        caption: file.description.clone(),
    }
}

fn message_kind(media: &str) -> MessageKind {
    match media {
        "image" => MessageKind::Photo,
        "video" => MessageKind::Video,
        "audio" => MessageKind::Audio,
        "voice" => MessageKind::Voice,
        _ => MessageKind::Document,
    }
}

fn sticker_media(sticker: &Sticker) -> Media {
    let (ending, kind, mime) = match sticker.format_type {
        DRAWN => ("json", "document", "application/json"),
        4 => ("gif", "image", "image/gif"),
        _ => ("png", "image", "image/png"),
    };
    Media {
        url: FileRef::Sticker(format!("{}.{ending}", sticker.id)).to_reference(),
        kind: Some(kind.to_owned()),
        mime: Some(mime.to_owned()),
        ..Media::default()
    }
}

fn question(poll: &Poll) -> String {
    let answers = poll.answers.iter().take(ANSWERS_MAX);
    poll_text(&poll.question.text, answers.map(|answer| answer.poll_media.text.as_str()))
}
