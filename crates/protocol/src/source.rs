//! The source of an event on the wire.
//!
//! Eight keys are always present, possibly as null; the others only if they are set. A scope is sent under both of its
//! names: 0.17.0 reads one, 0.19.0 the other. The flags for a program as author and for an edit are always sent,
//! because the newest client does not trust an author without them.

use nightdesk_types::event::{ChatType, Source};
use serde::{Deserialize, Serialize};

use crate::tolerant;

/// A source as it is sent.
#[derive(Serialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub(crate) struct WireSource<'a> {
    platform: &'a str,
    chat_id: &'a str,
    chat_type: ChatType,
    chat_name: Option<&'a str>,
    user_id: Option<&'a str>,
    user_name: Option<&'a str>,
    thread_id: Option<&'a str>,
    chat_topic: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    user_display_name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    user_handle: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    user_id_alt: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    chat_id_alt: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    scope_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    guild_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent_chat_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    profile: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prospective_thread_id: Option<&'a str>,
    /// Stock clients ignore it.
    #[serde(rename = "botId", skip_serializing_if = "str::is_empty")]
    bot_handle: &'a str,
    is_bot: bool,
    message_is_edit: bool,
}

impl<'a> WireSource<'a> {
    /// An empty handle is left out: the chats of the desk itself have no bot.
    pub(crate) fn from_source(
        source: &'a Source,
        message_is_edit: bool,
        bot_handle: &'a str,
    ) -> Self {
        Self {
            platform: &source.platform,
            chat_id: &source.chat_id,
            chat_type: source.chat_type,
            chat_name: source.chat_name.as_deref(),
            user_id: source.user_id.as_deref(),
            user_name: source.user_name.as_deref(),
            thread_id: source.thread_id.as_deref(),
            chat_topic: source.chat_topic.as_deref(),
            user_display_name: source.user_display_name.as_deref(),
            user_handle: source.user_handle.as_deref(),
            user_id_alt: source.user_id_alt.as_deref(),
            chat_id_alt: source.chat_id_alt.as_deref(),
            scope_id: source.scope_id.as_deref(),
            guild_id: source.scope_id.as_deref(),
            parent_chat_id: source.parent_chat_id.as_deref(),
            message_id: source.message_id.as_deref(),
            profile: source.profile.as_deref(),
            prospective_thread_id: source.prospective_thread_id.as_deref(),
            bot_handle,
            is_bot: source.is_bot,
            message_is_edit,
        }
    }
}

/// A source as the SDK receives it.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct RawSource {
    #[serde(deserialize_with = "tolerant::text_or_empty")]
    platform: String,
    #[serde(deserialize_with = "tolerant::text_or_empty")]
    chat_id: String,
    #[serde(deserialize_with = "tolerant::text")]
    chat_type: Option<String>,
    #[serde(deserialize_with = "tolerant::text")]
    chat_name: Option<String>,
    #[serde(deserialize_with = "tolerant::text")]
    user_id: Option<String>,
    #[serde(deserialize_with = "tolerant::text")]
    user_name: Option<String>,
    #[serde(deserialize_with = "tolerant::text")]
    thread_id: Option<String>,
    #[serde(deserialize_with = "tolerant::text")]
    chat_topic: Option<String>,
    #[serde(deserialize_with = "tolerant::text")]
    user_display_name: Option<String>,
    #[serde(deserialize_with = "tolerant::text")]
    user_handle: Option<String>,
    #[serde(deserialize_with = "tolerant::text")]
    user_id_alt: Option<String>,
    #[serde(deserialize_with = "tolerant::text")]
    chat_id_alt: Option<String>,
    #[serde(deserialize_with = "tolerant::text")]
    scope_id: Option<String>,
    #[serde(deserialize_with = "tolerant::text")]
    guild_id: Option<String>,
    #[serde(deserialize_with = "tolerant::text")]
    parent_chat_id: Option<String>,
    #[serde(deserialize_with = "tolerant::text")]
    message_id: Option<String>,
    #[serde(deserialize_with = "tolerant::text")]
    profile: Option<String>,
    #[serde(deserialize_with = "tolerant::text")]
    prospective_thread_id: Option<String>,
    #[serde(deserialize_with = "tolerant::truth")]
    is_bot: bool,
    #[serde(deserialize_with = "tolerant::truth")]
    pub(crate) message_is_edit: bool,
    #[serde(rename = "botId", deserialize_with = "tolerant::text")]
    pub(crate) bot_handle: Option<String>,
}

impl From<RawSource> for Source {
    fn from(raw: RawSource) -> Self {
        Self {
            platform: raw.platform,
            chat_id: raw.chat_id,
            chat_type: chat_type(raw.chat_type.as_deref()),
            chat_name: raw.chat_name,
            user_id: raw.user_id,
            user_name: raw.user_name,
            user_display_name: raw.user_display_name,
            user_handle: raw.user_handle,
            thread_id: raw.thread_id,
            chat_topic: raw.chat_topic,
            user_id_alt: raw.user_id_alt,
            chat_id_alt: raw.chat_id_alt,
            scope_id: raw.scope_id.or(raw.guild_id),
            parent_chat_id: raw.parent_chat_id,
            message_id: raw.message_id,
            profile: raw.profile,
            prospective_thread_id: raw.prospective_thread_id,
            is_bot: raw.is_bot,
        }
    }
}

/// Returns the chat type. An unknown one is treated as a chat that others can read.
fn chat_type(name: Option<&str>) -> ChatType {
    match name {
        None | Some("dm") => ChatType::Dm,
        Some("channel") => ChatType::Channel,
        Some("thread") => ChatType::Thread,
        Some("forum") => ChatType::Forum,
        Some(_) => ChatType::Group,
    }
}
