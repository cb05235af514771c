//! An agent's action on a platform.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// One action of an agent on a platform, as the lane and the platform see it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub struct Send {
    /// The destination chat.
    pub chat_id: String,
    /// The operation.
    #[serde(flatten)]
    pub op: Op,
    /// Further fields of the client: thread, scope, hints.
    #[serde(default)]
    pub metadata: Map<String, Value>,
}

/// Conditions for renaming a thread, so that a name set by a person is not lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Conditions<'a> {
    /// Rename only if the bot opened the thread.
    pub is_ours: bool,
    /// Rename only if the thread still has this name.
    pub current_name: Option<&'a str>,
}

impl Conditions<'_> {
    /// Returns true if the thread is renamed without conditions.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

impl Send {
    /// Returns the conditions of an [`Op::ThreadRename`].
    pub fn conditions(&self) -> Conditions<'_> {
        Conditions {
            is_ours: self.metadata.get("only_if_connector_created") == Some(&Value::Bool(true)),
            current_name: self.metadata.get("only_if_current_name").and_then(Value::as_str),
        }
    }
}

/// The operations in a chat. Each platform declares the ones it supports.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(tag = "op", rename_all = "snake_case")]
pub enum Op {
    /// Writes a message.
    Send {
        /// The text.
        content: String,
        /// The message it answers.
        reply_to: Option<String>,
    },
    /// Changes a message.
    Edit {
        /// The message to change.
        message_id: String,
        /// The new text.
        content: String,
    },
    /// Shows that the agent is working.
    Typing {
        /// A status text, where the platform has one; empty clears it.
        content: Option<String>,
    },
    /// Removes a message.
    Delete {
        /// The message to remove.
        message_id: String,
    },
    /// Shows a reply while it is being written.
    Draft {
        /// The client's number for the draft.
        draft_id: i64,
        /// The text so far.
        content: String,
        /// True if the text is complete.
        #[serde(rename = "final")]
        #[cfg_attr(feature = "openapi", schemars(default))]
        is_final: bool,
    },
    /// Shows the steps of a turn.
    TaskCard {
        /// The client's id of the card.
        card_id: String,
        /// Its parts, as the client writes them.
        chunks: Vec<Value>,
    },
    /// Ends a card.
    TaskCardStop {
        /// The client's id of the card.
        card_id: String,
    },
    /// Sends a file by reference.
    SendMedia {
        /// `image`, `voice`, `audio`, `video` or `document`.
        media_kind: String,
        /// The URL of the file.
        source_url: String,
        /// The caption.
        #[cfg_attr(feature = "openapi", schemars(default))]
        content: String,
        /// The message it answers.
        reply_to: Option<String>,
        /// The name to show.
        filename: Option<String>,
    },
    /// Shows a question with buttons.
    Prompt {
        /// The question.
        content: String,
        /// `approval`, `clarify` or `choice`.
        prompt_kind: String,
        /// The client's id of the prompt.
        prompt_id: String,
        /// The buttons.
        options: Vec<PromptOption>,
        /// The message it answers.
        reply_to: Option<String>,
        /// The time that the prompt waits, in seconds.
        timeout_s: Option<f64>,
    },
    /// Adds or removes a reaction.
    React {
        /// The message that gets the reaction.
        message_id: String,
        /// The reaction.
        emoji: String,
        /// True if the reaction is removed.
        #[cfg_attr(feature = "openapi", schemars(default))]
        remove: bool,
    },
    /// Opens a thread.
    ThreadCreate {
        /// Its name.
        thread_name: String,
    },
    /// Renames a thread.
    ThreadRename {
        /// The id of the thread.
        message_id: String,
        /// Its new name.
        thread_name: String,
    },
    /// Reads the name and type of a chat.
    GetChatInfo,
    /// Writes a message with a capability that the desk holds. Only the desk makes this operation, for a session of an
    /// agent; the capability itself is never part of it.
    #[cfg_attr(feature = "openapi", schemars(skip))]
    FollowUp {
        /// The client's key of the session that the capability was lent for.
        session_key: String,
        /// The kind of capability.
        kind: String,
        /// The text.
        content: String,
    },
}

/// One button of an [`Op::Prompt`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub struct PromptOption {
    /// The id that a press returns.
    pub id: String,
    /// The text on the button.
    #[cfg_attr(feature = "openapi", schemars(default))]
    pub label: String,
    /// The style of the button.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub style: Option<String>,
}

/// The status of a chat whose agent has no line. The desk's own page shows it until a message follows.
pub const WAKING: &str = "waking…";

/// The status of a chat whose agent was woken too often to be called now.
pub const HELD: &str = "asleep: woken too often this hour; your message is delivered later";

/// The notice to the author of the oldest waiting entry that the agent still does not come.
pub const STILL_WAKING: &str = "Your agent is still waking. Your message is stored, and is delivered as soon as the \
                                agent is up.";

/// The notice to people whose agent could not be woken in time.
pub const UNREACHABLE: &str = "Your agent could not be woken for a day. Your messages are stored, and are delivered \
                               when it is up again. Its owner has been notified.";

/// The notice to an author whose messages are parked because of their rate.
pub const TOO_FAST: &str = "You write faster than your agent takes messages. Your last messages are set aside, and its \
                            owner can have them delivered. Please wait a minute before you write again.";

/// The notice that a running turn stops.
pub const STOPPED: &str = "Stopped.";

/// The notice that no turn ran.
pub const NOT_RUNNING: &str = "Nothing was running.";

/// The notice that a stop reached an agent whose client does not report the result.
pub const STOP_DELIVERED: &str = "The stop was delivered to your agent.";

/// The notice that a stop reached no client.
pub const STOP_UNDELIVERED: &str =
    "The stop could not be delivered, because your agent is not connected.";

/// The label of the button that stops a running turn.
pub const STOP_LABEL: &str = "Stop";

/// The id of the option of that button.
pub const STOP_OPTION: &str = "stop";

/// Prefix of the id of the prompt of that button. The agent's id follows.
pub const STOP_PROMPT: &str = "stop.";

/// The metadata by which an agent marks an unfinished answer. True shows the stop button, false removes it.
pub const RUNNING: &str = "running";

/// The metadata with which the desk tells an adapter the prompt of the stop button. Null removes the button.
pub const STOP_BUTTON: &str = "stop_button";

impl Op {
    /// Returns true if only clients after Hermes 0.19 use it on their own initiative.
    pub const fn is_newer(&self) -> bool {
        !matches!(self, Self::Send { .. } | Self::GetChatInfo | Self::FollowUp { .. })
    }

    /// Returns true if it is shown for a moment and leaves nothing behind.
    pub const fn is_fleeting(&self) -> bool {
        matches!(self, Self::Typing { .. } | Self::Draft { is_final: false, .. })
    }

    /// Returns the operation with the agent's name before every visible text, to distinguish agents behind one bot.
    #[must_use]
    pub fn with_speaker_name(mut self, name: &str) -> Self {
        match &mut self {
            Self::Send { content, .. }
            | Self::Edit { content, .. }
            | Self::Draft { content, .. }
            | Self::Prompt { content, .. }
            | Self::FollowUp { content, .. }
            | Self::SendMedia { content, .. } => content.insert_str(0, &format!("**{name}:** ")),
            Self::Typing { .. }
            | Self::Delete { .. }
            | Self::TaskCard { .. }
            | Self::TaskCardStop { .. }
            | Self::React { .. }
            | Self::ThreadCreate { .. }
            | Self::ThreadRename { .. }
            | Self::GetChatInfo => {}
        }
        self
    }

    /// Returns the id of the message or thread that it changes.
    pub fn changed_message(&self) -> Option<&str> {
        match self {
            Self::Edit { message_id, .. }
            | Self::Delete { message_id }
            | Self::React { message_id, .. }
            | Self::ThreadRename { message_id, .. } => Some(message_id),
            Self::Send { .. }
            | Self::Typing { .. }
            | Self::Draft { .. }
            | Self::TaskCard { .. }
            | Self::TaskCardStop { .. }
            | Self::SendMedia { .. }
            | Self::Prompt { .. }
            | Self::ThreadCreate { .. }
            | Self::GetChatInfo
            | Self::FollowUp { .. } => None,
        }
    }

    /// Returns the kind of the capability that it uses.
    pub fn capability(&self) -> Option<&str> {
        if let Self::FollowUp { kind, .. } = self { Some(kind) } else { None }
    }

    /// Returns the name on the wire.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Send { .. } => "send",
            Self::Edit { .. } => "edit",
            Self::Typing { .. } => "typing",
            Self::Delete { .. } => "delete",
            Self::Draft { .. } => "draft",
            Self::TaskCard { .. } => "task_card",
            Self::TaskCardStop { .. } => "task_card_stop",
            Self::SendMedia { .. } => "send_media",
            Self::Prompt { .. } => "prompt",
            Self::React { .. } => "react",
            Self::ThreadCreate { .. } => "thread_create",
            Self::ThreadRename { .. } => "thread_rename",
            Self::GetChatInfo => "get_chat_info",
            Self::FollowUp { .. } => "follow_up",
        }
    }
}
