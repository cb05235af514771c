//! A refusal by Telegram, without its text.

use std::fmt;
use std::time::Duration;

use reqwest::StatusCode;
use serde::Deserialize;

/// Retry delay of a rate limit without a time.
const RETRY_AFTER_DEFAULT: Duration = Duration::from_secs(1);

/// A refusal by Telegram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// The status, which Telegram calls an error code.
    pub(crate) status: StatusCode,
    /// The reason, if it is a known one.
    pub(crate) reason: Option<Reason>,
    /// Retry delay, if the call was rate limited.
    pub(crate) retry_after: Duration,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.code())
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Said {
    description: String,
    parameters: Parameters,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Parameters {
    retry_after: Option<u64>,
}

impl Refusal {
    /// Parses a refusal. A proxy between the desk and Telegram may have sent it in another format.
    pub(super) fn read(status: StatusCode, body: &[u8]) -> Self {
        let Said { description, parameters } = serde_json::from_slice(body).unwrap_or_default();
        let retry_after = parameters.retry_after.map(Duration::from_secs);
        let retry_after = retry_after.unwrap_or(RETRY_AFTER_DEFAULT);
        Self { status, reason: Reason::in_words(&description), retry_after }
    }

    /// Returns true if the refusal has this reason.
    pub(crate) fn is(&self, reason: Reason) -> bool {
        self.reason == Some(reason)
    }

    /// Returns a code: the reason, or the status without one.
    pub(crate) fn code(&self) -> String {
        let number = || self.status.as_u16().to_string();
        self.reason.map_or_else(number, |reason| reason.slug().to_owned())
    }
}

/// Known reasons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    Unparsable,
    TooLong,
    NotModified,
    Empty,
    ChatNotFound,
    ChatMigrated,
    Blocked,
    Deactivated,
    NeverStarted,
    NotThere,
    NoRights,
    ThreadNotFound,
    ThreadClosed,
    MessageNotFound,
    NotEditable,
    NotDeletable,
    ReactionInvalid,
    FileNotTaken,
}

/// Parts of Telegram's error texts and their reasons. The texts are meant for people and change now and then; an
/// unknown text yields only the status.
const WORDS: [(&str, Reason); 33] = [
    ("can't parse entities", Reason::Unparsable),
    ("message is too long", Reason::TooLong),
    ("caption is too long", Reason::TooLong),
    ("message is not modified", Reason::NotModified),
    ("topic_not_modified", Reason::NotModified),
    ("text is empty", Reason::Empty),
    ("text must be non-empty", Reason::Empty),
    ("chat not found", Reason::ChatNotFound),
    ("upgraded to a supergroup", Reason::ChatMigrated),
    ("migrated to a supergroup", Reason::ChatMigrated),
    ("blocked by the user", Reason::Blocked),
    ("user is deactivated", Reason::Deactivated),
    ("can't initiate conversation", Reason::NeverStarted),
    ("bot was kicked", Reason::NotThere),
    ("bot is not a member", Reason::NotThere),
    ("not enough rights", Reason::NoRights),
    ("have no rights", Reason::NoRights),
    ("chat_write_forbidden", Reason::NoRights),
    ("chat_admin_required", Reason::NoRights),
    ("message thread not found", Reason::ThreadNotFound),
    ("topic_deleted", Reason::ThreadNotFound),
    ("topic_closed", Reason::ThreadClosed),
    ("message to edit not found", Reason::MessageNotFound),
    ("message to delete not found", Reason::MessageNotFound),
    ("message to react not found", Reason::MessageNotFound),
    ("message_id_invalid", Reason::MessageNotFound),
    ("message can't be edited", Reason::NotEditable),
    ("message can't be deleted", Reason::NotDeletable),
    ("reaction_invalid", Reason::ReactionInvalid),
    ("wrong file identifier", Reason::FileNotTaken),
    ("failed to get http url content", Reason::FileNotTaken),
    ("wrong type of the web page content", Reason::FileNotTaken),
    ("wrong remote file identifier", Reason::FileNotTaken),
];

impl Reason {
    fn in_words(description: &str) -> Option<Self> {
        let description = description.to_ascii_lowercase();
        let known = WORDS.iter().find(|(words, _)| description.contains(words));
        known.map(|(_, reason)| *reason)
    }

    const fn slug(self) -> &'static str {
        match self {
            Self::Unparsable => "unparsable",
            Self::TooLong => "too_long",
            Self::NotModified => "not_modified",
            Self::Empty => "empty",
            Self::ChatNotFound => "chat_not_found",
            Self::ChatMigrated => "chat_migrated",
            Self::Blocked => "blocked_by_user",
            Self::Deactivated => "user_deactivated",
            Self::NeverStarted => "never_started",
            Self::NotThere => "not_a_member",
            Self::NoRights => "no_rights",
            Self::ThreadNotFound => "thread_not_found",
            Self::ThreadClosed => "thread_closed",
            Self::MessageNotFound => "message_not_found",
            Self::NotEditable => "not_editable",
            Self::NotDeletable => "not_deletable",
            Self::ReactionInvalid => "reaction_invalid",
            Self::FileNotTaken => "file_not_taken",
        }
    }
}
