//! Converts the content of a message besides its text.

use nightdesk_kit::content::{MessageExtras, poll_text};
use nightdesk_types::event::{Media, MessageKind};

use super::update::{Contact, Location, Poll, TelegramFile, TelegramMessage, Venue};

/// Prefix of a reference to a file at Telegram. Only the bot's key can resolve it.
pub(crate) const FILE_SCHEME: &str = "telegram-file:";

/// Maximum choices of a poll, as at Telegram.
const OPTIONS_MAX: usize = 12;

/// Returns the content of a message besides its text.
pub(super) fn extras(message: &TelegramMessage) -> MessageExtras {
    if let Some((kind, media)) = file(message) {
        let emoji = message.sticker.as_ref().and_then(|sticker| sticker.emoji.clone());
        return MessageExtras { kind, media: vec![media], words: emoji.unwrap_or_default() };
    }
    let (kind, words) = text_of_special(message).unwrap_or_default();
    MessageExtras { kind, media: Vec::new(), words }
}

/// Default kind and MIME type of a file.
#[derive(Clone, Copy)]
struct FileDefaults(MessageKind, &'static str, &'static str);

const PHOTO: FileDefaults = FileDefaults(MessageKind::Photo, "image", "image/jpeg");
const FILM: FileDefaults = FileDefaults(MessageKind::Video, "video", "video/mp4");
const VOICE: FileDefaults = FileDefaults(MessageKind::Voice, "voice", "audio/ogg");
const AUDIO: FileDefaults = FileDefaults(MessageKind::Audio, "audio", "audio/mpeg");
const DOCUMENT: FileDefaults =
    FileDefaults(MessageKind::Document, "document", "application/octet-stream");

fn file(message: &TelegramMessage) -> Option<(MessageKind, Media)> {
    let files = [
        (largest_size(&message.photo), PHOTO),
        // An animation is also present as a document, so it comes first.
        (message.animation.as_ref(), FILM),
        (message.video.as_ref(), FILM),
        (message.video_note.as_ref(), FILM),
        (message.voice.as_ref(), VOICE),
        (message.audio.as_ref(), AUDIO),
        (message.document.as_ref(), DOCUMENT),
        (message.sticker.as_ref(), sticker_defaults(message)),
    ];
    let (file, like) = files.into_iter().find_map(|(file, like)| Some((file?, like)))?;
    Some((like.0, media(file, like)))
}

fn media(file: &TelegramFile, FileDefaults(_, kind, mime): FileDefaults) -> Media {
    Media {
        url: format!("{FILE_SCHEME}{}", file.file_id),
        mime: Some(file.mime_type.clone().unwrap_or_else(|| mime.to_owned())),
        kind: Some(kind.to_owned()),
        size: file.file_size,
        filename: file.file_name.clone(),
        caption: None,
    }
}

/// Returns the largest size of a photo.
fn largest_size(sizes: &[TelegramFile]) -> Option<&TelegramFile> {
    sizes.iter().max_by_key(|size| u64::from(size.width) * u64::from(size.height))
}

fn sticker_defaults(message: &TelegramMessage) -> FileDefaults {
    let (kind, mime) = match &message.sticker {
        Some(sticker) if sticker.is_video => ("video", "video/webm"),
        Some(sticker) if sticker.is_animated => ("document", "application/x-tgsticker"),
        Some(_) | None => ("image", "image/webp"),
    };
    FileDefaults(MessageKind::Sticker, kind, mime)
}

/// Returns the text of a message that has neither a text nor a file.
fn text_of_special(message: &TelegramMessage) -> Option<(MessageKind, String)> {
    if let Some(location) = &message.location {
        return Some((MessageKind::Location, location_text(location, message.venue.as_ref())));
    }
    let words = match (&message.contact, &message.poll, &message.dice) {
        (Some(contact), _, _) => contact_text(contact),
        (None, Some(poll), _) => poll_as_text(poll),
        (None, None, Some(dice)) => format!("{} {}", dice.emoji, dice.value),
        (None, None, None) => return None,
    };
    Some((MessageKind::Text, words))
}

fn location_text(location: &Location, venue: Option<&Venue>) -> String {
    let Location { latitude, longitude } = location;
    let venue = venue.map(|venue| format!("{}, {}: ", venue.title, venue.address));
    format!("{}{latitude}, {longitude}", venue.unwrap_or_default())
}

fn contact_text(contact: &Contact) -> String {
    let Contact { phone_number, first_name, last_name } = contact;
    let last_name = last_name.as_deref().unwrap_or_default();
    format!("{} {phone_number}", format!("{first_name} {last_name}").trim())
}

fn poll_as_text(poll: &Poll) -> String {
    let options = poll.options.iter().take(OPTIONS_MAX);
    poll_text(&poll.question, options.map(|option| option.text.as_str()))
}
