//! Source: where something was said, and by whom.

use nightdesk_types::event::{ChatType, Source};

use super::update::{Chat, Message, User};

/// Where a message was written, and who wrote it.
///
/// Who writes as a chat (a channel, or an administrator who does not want to be named) has a
/// stand-in for a sender, and all such people share it. So the chat is the author, or whoever is bound to
/// the stand-in would hear them all.
pub(super) fn of_message(platform: &str, message: &Message) -> Source {
    let source = place(platform, message);
    let source = Source { message_id: Some(message.message_id.to_string()), ..source };
    match (&message.sender_chat, &message.from) {
        (Some(chat), _) => Source {
            user_id: Some(chat.id.to_string()),
            user_name: chat_name(chat),
            user_handle: chat.username.clone(),
            is_bot: message.is_automatic_forward,
            ..source
        },
        (None, Some(user)) => by(user, source),
        (None, None) => source,
    }
}

/// Where a button was pressed, and who did.
pub(super) fn of_press(platform: &str, message: &Message, user: &User) -> Source {
    by(user, place(platform, message))
}

fn place(platform: &str, message: &Message) -> Source {
    Source {
        platform: platform.to_owned(),
        chat_id: message.chat.id.to_string(),
        chat_type: chat_type(&message.chat),
        chat_name: chat_name(&message.chat),
        thread_id: topic(message).map(|topic| topic.to_string()),
        ..Source::default()
    }
}

fn by(user: &User, place: Source) -> Source {
    Source {
        user_id: Some(user.id.to_string()),
        user_name: Some(user_name(user)),
        user_handle: user.username.clone(),
        is_bot: user.is_bot,
        ..place
    }
}

/// The topic a message belongs to. Without topics, Telegram counts every reply a thread, and nothing can
/// be sent to one.
pub(super) fn topic(message: &Message) -> Option<i64> {
    message.message_thread_id.filter(|_| message.is_topic_message)
}

/// What kind of chat it is.
pub(crate) fn chat_type(chat: &Chat) -> ChatType {
    match chat.kind.as_str() {
        "private" => ChatType::Dm,
        "channel" => ChatType::Channel,
        // Kinds yet to come are shared, to be safe.
        _ if chat.is_forum => ChatType::Forum,
        _ => ChatType::Group,
    }
}

/// What people call a chat.
pub(crate) fn chat_name(chat: &Chat) -> Option<String> {
    let person = || joined(chat.first_name.as_deref(), chat.last_name.as_deref());
    chat.title.clone().or_else(person)
}

/// What people call somebody.
pub(super) fn user_name(user: &User) -> String {
    joined(Some(&user.first_name), user.last_name.as_deref()).unwrap_or_default()
}

fn joined(first: Option<&str>, last: Option<&str>) -> Option<String> {
    let names: Vec<&str> = [first, last].into_iter().flatten().collect();
    Some(names.join(" ").trim().to_owned()).filter(|name| !name.is_empty())
}
