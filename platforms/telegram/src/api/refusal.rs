//! Reads a refusal by Telegram, without its text.

use std::time::Duration;

use nightdesk_kit::PlatformRefusal;
use reqwest::StatusCode;
use serde::Deserialize;

/// Code for an edit that changes nothing.
pub(crate) const NOT_MODIFIED: &str = "not_modified";

const UNPARSABLE: &str = "unparsable";
const TOO_LONG: &str = "too_long";
const EMPTY: &str = "empty";

/// Codes of refusals that the markup alone may cause.
pub(crate) const MARKUP_CODES: [&str; 3] = [UNPARSABLE, TOO_LONG, EMPTY];

#[derive(Default, Deserialize)]
#[serde(default)]
struct TelegramErrorBody {
    description: String,
    parameters: Parameters,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Parameters {
    retry_after: Option<u64>,
}

/// Parses a refusal. A proxy between the desk and Telegram may have sent it in another format.
pub(super) fn parse_refusal(status: StatusCode, body: &str) -> PlatformRefusal {
    let TelegramErrorBody { description, parameters } =
        serde_json::from_str(body).unwrap_or_default();
    let retry_after = parameters.retry_after.map(Duration::from_secs);
    // For an unknown bot every method is not found.
    let is_key_rejected = matches!(status, StatusCode::UNAUTHORIZED | StatusCode::NOT_FOUND);
    let code = refusal_code(&description).map(str::to_owned);
    PlatformRefusal { is_key_rejected, ..PlatformRefusal::new(status, code, retry_after) }
}

/// Parts of Telegram's error texts and the codes for them. The texts are meant for people and change now and then; an
/// unknown text yields only the status.
const CODES: [(&str, &str); 33] = [
    ("can't parse entities", UNPARSABLE),
    ("message is too long", TOO_LONG),
    ("caption is too long", TOO_LONG),
    ("message is not modified", NOT_MODIFIED),
    ("topic_not_modified", NOT_MODIFIED),
    ("text is empty", EMPTY),
    ("text must be non-empty", EMPTY),
    ("chat not found", "chat_not_found"),
    ("upgraded to a supergroup", "chat_migrated"),
    ("migrated to a supergroup", "chat_migrated"),
    ("blocked by the user", "blocked_by_user"),
    ("user is deactivated", "user_deactivated"),
    ("can't initiate conversation", "never_started"),
    ("bot was kicked", "not_a_member"),
    ("bot is not a member", "not_a_member"),
    ("not enough rights", "no_rights"),
    ("have no rights", "no_rights"),
    ("chat_write_forbidden", "no_rights"),
    ("chat_admin_required", "no_rights"),
    ("message thread not found", "thread_not_found"),
    ("topic_deleted", "thread_not_found"),
    ("topic_closed", "thread_closed"),
    ("message to edit not found", "message_not_found"),
    ("message to delete not found", "message_not_found"),
    ("message to react not found", "message_not_found"),
    ("message_id_invalid", "message_not_found"),
    ("message can't be edited", "not_editable"),
    ("message can't be deleted", "not_deletable"),
    ("reaction_invalid", "reaction_invalid"),
    ("wrong file identifier", "file_not_taken"),
    ("failed to get http url content", "file_not_taken"),
    ("wrong type of the web page content", "file_not_taken"),
    ("wrong remote file identifier", "file_not_taken"),
];

fn refusal_code(description: &str) -> Option<&'static str> {
    let description = description.to_ascii_lowercase();
    CODES.iter().find(|(words, _)| description.contains(words)).map(|(_, code)| *code)
}
