//! Determines the place and the author of a message or a press.

use nightdesk_types::event::{ChatType, Source};

use super::update::{TelegramChat, TelegramMessage, User};

/// Returns the place and the author of a message.
///
/// A message that is sent as a chat (by a channel, or by an anonymous administrator) has a placeholder as its sender,
/// which all such people share. Therefore the chat is the author; otherwise a binding of the placeholder would apply to
/// all of them.
pub(super) fn message_source(platform: &str, message: &TelegramMessage) -> Source {
    let source = place_source(platform, message);
    let source = Source { message_id: Some(message.message_id.to_string()), ..source };
    match (&message.sender_chat, &message.from) {
        (Some(chat), _) => Source {
            user_id: Some(chat.id.to_string()),
            user_name: chat_name(chat),
            user_handle: chat.username.clone(),
            is_bot: message.is_automatic_forward,
            ..source
        },
        (None, Some(user)) => with_author(user, source),
        (None, None) => source,
    }
}

/// Returns the place and the author of a press.
pub(super) fn press_source(platform: &str, message: &TelegramMessage, user: &User) -> Source {
    with_author(user, place_source(platform, message))
}

fn place_source(platform: &str, message: &TelegramMessage) -> Source {
    Source {
        platform: platform.to_owned(),
        chat_id: message.chat.id.to_string(),
        chat_type: chat_type(&message.chat),
        chat_name: chat_name(&message.chat),
        thread_id: topic(message).map(|topic| topic.to_string()),
        ..Source::default()
    }
}

fn with_author(user: &User, place: Source) -> Source {
    Source {
        user_id: Some(user.id.to_string()),
        user_name: Some(user_name(user)),
        user_handle: user.username.clone(),
        is_bot: user.is_bot,
        ..place
    }
}

/// Returns the topic of a message. In a chat without topics, Telegram reports every reply as a thread, to which no
/// message can be sent.
pub(super) fn topic(message: &TelegramMessage) -> Option<i64> {
    message.message_thread_id.filter(|_| message.is_topic_message)
}

/// Returns the kind of a chat.
pub(crate) fn chat_type(chat: &TelegramChat) -> ChatType {
    match chat.kind.as_str() {
        "private" => ChatType::Dm,
        "channel" => ChatType::Channel,
        // Unknown kinds count as shared, which is the safe choice.
        _ if chat.is_forum => ChatType::Forum,
        _ => ChatType::Group,
    }
}

/// Returns a chat's display name.
pub(crate) fn chat_name(chat: &TelegramChat) -> Option<String> {
    let person = || join_names(chat.first_name.as_deref(), chat.last_name.as_deref());
    chat.title.clone().or_else(person)
}

/// Returns a person's display name.
pub(super) fn user_name(user: &User) -> String {
    join_names(Some(&user.first_name), user.last_name.as_deref()).unwrap_or_default()
}

fn join_names(first: Option<&str>, last: Option<&str>) -> Option<String> {
    let names: Vec<&str> = [first, last].into_iter().flatten().collect();
    Some(names.join(" ").trim().to_owned()).filter(|name| !name.is_empty())
}
