//! Builds Discord's objects with their default fields.

use serde_json::{Map, Value, json};

/// Default permissions of all members in a guild: see, write, read, react, attach, open threads and use commands.
pub(crate) const EVERYBODY_MAY: u64 = 1 << 6
    | 1 << 10
    | 1 << 11
    | 1 << 14
    | 1 << 15
    | 1 << 16
    | 1 << 31
    | 1 << 35
    | 1 << 36
    | 1 << 38;

/// Fills in missing fields of an object.
pub(crate) fn filled(thing: &Value, lacking: Value) -> Value {
    let mut whole = match lacking {
        Value::Object(whole) => whole,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Map::new()
        }
    };
    for (name, value) in thing.as_object().into_iter().flatten() {
        whole.insert(name.clone(), value.clone());
    }
    Value::Object(whole)
}

pub(crate) fn user(id: u64, name: &str, is_bot: bool) -> Value {
    json!({
        "id": id.to_string(), "username": name, "discriminator": "0", "global_name": name,
        "avatar": null, "bot": is_bot, "public_flags": 0,
    })
}

/// Returns a bot's own user object.
pub(crate) fn me(user: &Value) -> Value {
    let own = json!({
        "mfa_enabled": true, "verified": true, "email": null, "flags": 0, "locale": "en-US",
    });
    filled(user, own)
}

pub(crate) fn role(role: &Value) -> Value {
    filled(
        role,
        json!({
            "name": "role", "color": 0,
            "colors": { "primary_color": 0, "secondary_color": null, "tertiary_color": null },
            "hoist": false, "icon": null, "unicode_emoji": null, "position": 1,
            "permissions": "0", "managed": false, "mentionable": false, "flags": 0,
        }),
    )
}

pub(crate) fn member(user: &Value, roles: &Value, date: &str) -> Value {
    json!({
        "user": user, "roles": roles, "nick": null, "avatar": null, "joined_at": date,
        "premium_since": null, "deaf": false, "mute": false, "flags": 0, "pending": false,
        "communication_disabled_until": null,
    })
}

pub(crate) fn channel(channel: &Value, guild: u64) -> Value {
    let mut channel = filled(
        channel,
        json!({
            "type": 0, "name": "channel", "position": 0, "permission_overwrites": [], "topic": null,
            "nsfw": false, "last_message_id": null, "rate_limit_per_user": 0, "parent_id": null,
            "flags": 0,
        }),
    );
    channel["guild_id"] = json!(guild.to_string());
    channel
}

pub(crate) fn thread(thread: &Value, date: &str) -> Value {
    filled(
        thread,
        json!({
            "type": 11, "last_message_id": null, "message_count": 0, "member_count": 1,
            "total_message_sent": 0, "rate_limit_per_user": 0, "flags": 0,
            "thread_metadata": {
                "archived": false, "auto_archive_duration": 1440, "archive_timestamp": date,
                "locked": false, "create_timestamp": date,
            },
        }),
    )
}

pub(crate) fn message(message: &Value) -> Value {
    filled(
        message,
        json!({
            "type": 0, "content": "", "attachments": [], "embeds": [], "mentions": [],
            "mention_roles": [], "mention_everyone": false, "pinned": false, "tts": false,
            "edited_timestamp": null, "flags": 0, "components": [],
        }),
    )
}

/// Returns a guild in the API's format, without channels and members.
pub(crate) fn guild(guild: &Value) -> Value {
    filled(
        guild,
        json!({
            "icon": null, "splash": null, "discovery_splash": null, "description": null,
            "banner": null, "afk_channel_id": null, "afk_timeout": 300, "application_id": null,
            "verification_level": 0, "default_message_notifications": 0,
            "explicit_content_filter": 0, "mfa_level": 0, "nsfw_level": 0, "premium_tier": 0,
            "premium_subscription_count": 0, "premium_progress_bar_enabled": false,
            "preferred_locale": "en-US", "features": [], "emojis": [], "stickers": [],
            "system_channel_id": null, "system_channel_flags": 0, "rules_channel_id": null,
            "public_updates_channel_id": null, "safety_alerts_channel_id": null,
            "vanity_url_code": null, "max_members": 500_000, "max_presences": null,
            "widget_enabled": false, "widget_channel_id": null,
        }),
    )
}
