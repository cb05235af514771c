//! Reads the settings of a bot of the scripted platform.

use std::num::NonZeroU32;

use nightdesk_port::{Bot, CallRate, LengthUnit, PlatformCapabilities};
use nightdesk_types::Visibility;
use reqwest::Url;
use serde::Deserialize;
use serde_json::Value;

/// All ops.
const OPS: [&str; 14] = [
    "send",
    "edit",
    "typing",
    "delete",
    "draft",
    "task_card",
    "task_card_stop",
    "send_media",
    "prompt",
    "react",
    "thread_create",
    "thread_rename",
    "get_chat_info",
    "follow_up",
];

/// Faster than any test: rate limits apply only if a test sets them.
const UNPACED: CallRate = CallRate::per_second(NonZeroU32::new(1_000_000).unwrap());

/// A bot's settings. Missing ones default to those of the claimed platform.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Settings {
    deliver_url: Option<String>,
    label: Option<String>,
    message_length_max: Option<u32>,
    /// `chars` or `utf16`.
    length_unit: Option<Unit>,
    markdown_dialect: Option<String>,
    hint: String,
    ops: Option<Vec<String>>,
    threads: Option<bool>,
    /// Calls per second in one chat.
    calls_per_second: Option<NonZeroU32>,
    /// Calls per second of the whole bot.
    bot_calls_per_second: Option<NonZeroU32>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Unit {
    Chars,
    Utf16,
}

impl Settings {
    /// Reads the settings. Invalid settings count as none: such a bot can receive and not send.
    fn of(bot: &Bot) -> Self {
        Self::deserialize(&bot.settings).unwrap_or_default()
    }
}

/// Returns the URL of a bot's calls.
pub(super) fn deliver_url(bot: &Bot) -> Option<Url> {
    Settings::of(bot).deliver_url.and_then(|url| Url::parse(&url).ok())
}

/// Returns a bot's capabilities, from its settings or its platform's name.
pub(super) fn capabilities(bot: &Bot) -> PlatformCapabilities {
    let settings = Settings::of(bot);
    let claimed = claimed(&bot.platform);
    let unit = settings.length_unit.map(|unit| match unit {
        Unit::Chars => LengthUnit::Chars,
        Unit::Utf16 => LengthUnit::Utf16,
    });
    let wanted = |op: &&str| settings.ops.as_ref().is_none_or(|ops| ops.iter().any(|o| o == op));
    PlatformCapabilities {
        label: settings.label.unwrap_or(claimed.label),
        message_length_max: settings.message_length_max.unwrap_or(claimed.message_length_max),
        length_unit: unit.unwrap_or(claimed.length_unit),
        markdown_dialect: settings.markdown_dialect.unwrap_or(claimed.markdown_dialect),
        emoji: claimed.emoji,
        is_pii_safe: claimed.is_pii_safe,
        hint: settings.hint,
        ops: OPS.into_iter().filter(wanted).collect(),
        threads: settings.threads.unwrap_or(claimed.threads),
        chat_pace: settings.calls_per_second.map_or(claimed.chat_pace, CallRate::per_second),
        bot_pace: settings.bot_calls_per_second.map_or(claimed.bot_pace, CallRate::per_second),
    }
}

/// Returns the capabilities of the platform of that name.
fn claimed(platform: &str) -> PlatformCapabilities {
    let (label, message_length_max, length_unit, dialect, threads) = match platform {
        "discord" => ("Discord", 2_000, LengthUnit::Chars, "discord", true),
        "telegram" => ("Telegram", 4_096, LengthUnit::Utf16, "markdown_v2", true),
        other => (other, 4_096, LengthUnit::Chars, "plain", false),
    };
    let (emoji, is_pii_safe) = match platform {
        "discord" => ("🎮", false),
        "telegram" => ("✈️", true),
        _ => ("💬", true),
    };
    PlatformCapabilities {
        label: label.to_owned(),
        message_length_max,
        length_unit,
        markdown_dialect: dialect.to_owned(),
        emoji,
        is_pii_safe,
        hint: String::new(),
        ops: OPS.to_vec(),
        threads,
        chat_pace: UNPACED,
        bot_pace: UNPACED,
    }
}

/// Returns true if attachments need the bot's key: `settings.files` has their content.
pub(super) fn has_files(bot: &Bot) -> bool {
    bot.settings.get("files").is_some()
}

/// Returns a file by its reference.
pub(super) fn file(bot: &Bot, reference: &str) -> Option<String> {
    Some(bot.settings.get("files")?.get(reference)?.as_str()?.to_owned())
}

/// Returns the sight of a person on a chat: all people see all chats, unless `settings.sights` lists the chat's people.
/// `null` instead of a list means that the platform has not answered.
pub(super) fn sight(bot: &Bot, chat: &str, person: &str) -> Visibility {
    match bot.settings.get("sights").and_then(|sights| sights.get(chat)) {
        None => Visibility::Sees,
        Some(Value::Array(people)) if people.iter().any(|one| one == person) => Visibility::Sees,
        Some(Value::Array(_)) => Visibility::Blind,
        Some(_) => Visibility::Unknown,
    }
}
