//! The result of an action, as sent to the gateway.
//!
//! The texts matter: 0.19.0 retries after an error that contains "network", sends once more as plain text after most
//! others, and does nothing only after a time-out.

use nightdesk_types::limits::{PLATFORM_ID_BYTES_MAX, SHORT_TEXT_BYTES_MAX};
use serde::Serialize;

mod raw;

pub(crate) use raw::RawOutcome;

use crate::text;

/// The code of a refusal that no other route would change.
pub const EGRESS_DECLINED: &str = "egress_declined";

/// The code of a request that the desk neither executed nor recorded.
pub const UNRECORDED: &str = "unrecorded";

/// The result of an action.
///
/// Its texts are bounded, so its frame is too.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub struct Outcome {
    success: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    message_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thread_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    auto_thread_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    ambiguous: bool,
    #[serde(rename = "chat_info", skip_serializing_if = "Option::is_none")]
    chat: Option<ChatSummary>,
    /// The chat again, for clients that read it here.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    chat_again: Option<ChatSummary>,
}

/// The name and type of a chat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub struct ChatSummary {
    /// Its name.
    pub name: String,
    /// `dm`, `group`, `channel`, `thread` or `forum`.
    #[serde(rename = "type")]
    pub kind: String,
}

impl Outcome {
    /// Returns a success. Not every action has a message id.
    pub fn delivered(message_id: Option<String>) -> Self {
        Self { success: true, message_id: message_id.filter(|id| is_id(id)), ..Self::default() }
    }

    /// Adds the thread of the message, and the thread's name if it was opened for the message.
    #[must_use]
    pub fn with_thread(mut self, thread_id: String, opened_as: Option<String>) -> Self {
        self.thread_id = Some(thread_id).filter(|id| is_id(id));
        self.auto_thread_name = opened_as.map(truncate_text);
        self
    }

    /// Adds the note that the interaction had expired and the text was sent as an ordinary message.
    #[must_use]
    pub fn with_plain_note(self) -> Self {
        let note = Some("the interaction had ended; sent as an ordinary message".to_owned());
        Self { note, ..self }
    }

    /// Returns a refusal: the agent may not do that there. A retry gets the same result.
    pub fn refused(platform: &str, why: &str) -> Self {
        let error = truncate_text(format!("{platform} egress declined: {why}"));
        Self { code: Some(EGRESS_DECLINED.to_owned()), ..Self::failed(error) }
    }

    /// Returns a failure: the action was not executed.
    pub fn failed(why: impl Into<String>) -> Self {
        Self { error: Some(truncate_text(why.into())), ..Self::default() }
    }

    /// Returns the failure of a request that the desk neither executed nor recorded, and whose record it did not read. An
    /// earlier request with the same id may have been executed, so a client repeats this one under the same id.
    ///
    /// The text makes 0.19.0 retry by itself. Its retry is safe: it never uses an id twice.
    pub fn unrecorded(why: &str) -> Self {
        let failed = Self::failed(format!("network error behind the desk: {why}"));
        Self { code: Some(UNRECORDED.to_owned()), ..failed }
    }

    /// Returns the result of an action that began and whose outcome is unknown.
    ///
    /// Only these words prevent 0.19.0 from sending it a second time, so no text is added to them.
    pub fn ambiguous() -> Self {
        let failed = Self::failed("delivery timed out; it may have arrived");
        Self { ambiguous: true, ..failed }
    }

    /// Returns the result of a long message of which only the first parts are known to have arrived.
    ///
    /// Like [`Outcome::ambiguous`] it names a time-out: a client that retried it would send the first parts twice.
    pub fn partial(said: usize, of: usize) -> Self {
        let error = format!("{said} of {of} parts arrived; the rest was refused or timed out");
        Self { ambiguous: true, ..Self::failed(error) }
    }

    /// Returns the name and type of a chat, in both places where clients read them.
    pub fn chat(name: String, kind: String) -> Self {
        let chat = ChatSummary { name: truncate_text(name), kind: truncate_text(kind) };
        Self { success: true, chat: Some(chat.clone()), chat_again: Some(chat), ..Self::default() }
    }

    /// Returns the failure of an unknown op.
    pub fn unknown_op(op: &str) -> Self {
        Self::failed(format!("op not supported: {op}"))
    }

    /// Returns the failure of an action without a required field.
    pub fn unusable(op: &str, missing: &str) -> Self {
        Self::failed(format!("action {op:?} has no usable {missing}"))
    }

    /// Returns true if the action was executed.
    pub const fn is_success(&self) -> bool {
        self.success
    }

    /// Returns true if the outcome is unknown.
    pub const fn is_ambiguous(&self) -> bool {
        self.ambiguous
    }

    /// Returns true if the desk neither executed nor recorded the request.
    pub fn is_unrecorded(&self) -> bool {
        self.code.as_deref() == Some(UNRECORDED)
    }

    /// Returns true if the action was not executed for lack of a connection or of time. A later attempt may succeed.
    pub fn is_temporary(&self) -> bool {
        let names_network = |error: &String| error.contains("network");
        !self.success && !self.ambiguous && self.error.as_ref().is_some_and(names_network)
    }

    /// Returns the platform's id of the new message.
    pub fn message_id(&self) -> Option<&str> {
        self.message_id.as_deref()
    }

    /// Returns the reason for the failure.
    pub fn error(&self) -> Option<&str> {
        self.error.as_deref()
    }

    /// Returns the code of a refusal.
    pub fn code(&self) -> Option<&str> {
        self.code.as_deref()
    }

    /// Returns the thread of the message.
    pub fn thread_id(&self) -> Option<&str> {
        self.thread_id.as_deref()
    }

    /// Returns the name of the thread that was opened for the message.
    pub fn auto_thread_name(&self) -> Option<&str> {
        self.auto_thread_name.as_deref()
    }

    /// Returns the chat's name and type, if they were requested.
    pub const fn chat_summary(&self) -> Option<&ChatSummary> {
        self.chat.as_ref()
    }
}

fn is_id(id: &str) -> bool {
    (1..=PLATFORM_ID_BYTES_MAX).contains(&id.len())
}

fn truncate_text(text: String) -> String {
    text::cut(text, SHORT_TEXT_BYTES_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The words after which 0.19.0 retries, besides those that it reads as bad markup.
    const RETRIED: [&str; 9] = [
        "connecterror",
        "connectionerror",
        "connectionreset",
        "connectionrefused",
        "connecttimeout",
        "network",
        "broken pipe",
        "remotedisconnected",
        "eoferror",
    ];

    #[test]
    fn what_may_have_arrived_is_not_sent_again() {
        for ambiguous in [Outcome::ambiguous(), Outcome::partial(2, 5)] {
            let error = ambiguous.error().unwrap().to_lowercase();

            assert!(error.contains("timed out"));
            assert!(RETRIED.iter().all(|word| !error.contains(word)));
            assert!(ambiguous.is_ambiguous() && !ambiguous.is_success());
        }
    }

    #[test]
    fn a_refusal_is_definite() {
        let refused = Outcome::refused("discord", "never addressed there");

        assert_eq!(refused.code(), Some("egress_declined"));
        assert_eq!(refused.error(), Some("discord egress declined: never addressed there"));
        assert!(!refused.is_ambiguous() && !refused.is_success());
    }

    #[test]
    fn a_request_that_was_not_recorded_is_retried() {
        let unrecorded = Outcome::unrecorded("its database does not answer");

        assert!(unrecorded.is_unrecorded() && unrecorded.is_temporary());
        assert!(!Outcome::failed("network busy").is_unrecorded());
    }

    #[test]
    fn an_id_that_is_none_is_left_out() {
        let max = "x".repeat(PLATFORM_ID_BYTES_MAX);

        assert_eq!(Outcome::delivered(Some(max.clone())).message_id(), Some(max.as_str()));
        assert_eq!(Outcome::delivered(Some(max + "x")).message_id(), None);
        assert_eq!(Outcome::delivered(Some(String::new())).message_id(), None);
    }

    #[test]
    fn a_chat_is_found_in_either_place() {
        let read = |json| Outcome::from(serde_json::from_str::<RawOutcome>(json).unwrap());
        let chat = ChatSummary { name: "general".to_owned(), kind: "channel".to_owned() };

        for json in [
            r#"{"success":1,"chat_info":{"name":"general","type":"channel"}}"#,
            r#"{"success":"yes","name":"general","type":"channel"}"#,
        ] {
            assert!(read(json).is_success(), "{json}");
            assert_eq!(read(json).chat_summary(), Some(&chat), "{json}");
        }
        assert_eq!(read(r#"{"success":0,"chat_info":[]}"#), Outcome::default());
    }
}
