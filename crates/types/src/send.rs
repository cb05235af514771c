//! Send: what an agent asks us to say or do on a platform.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// One action of an agent on a platform, as the lane and the platform see it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Send {
    /// Where it goes.
    pub chat_id: String,
    /// What is done there.
    #[serde(flatten)]
    pub op: Op,
    /// What the client said besides: thread, scope, hints.
    #[serde(default)]
    pub metadata: Map<String, Value>,
}

/// Under which conditions a thread is renamed, so that nobody's own name for it is lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Conditions<'a> {
    /// Only if our bot opened it.
    pub is_ours: bool,
    /// Only if it is still called this.
    pub current_name: Option<&'a str>,
}

impl Conditions<'_> {
    /// Whether it is renamed whatever it is.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

impl Send {
    /// The conditions of a [`Op::ThreadRename`].
    pub fn conditions(&self) -> Conditions<'_> {
        Conditions {
            is_ours: self.metadata.get("only_if_connector_created") == Some(&Value::Bool(true)),
            current_name: self.metadata.get("only_if_current_name").and_then(Value::as_str),
        }
    }
}

/// What can be done in a chat. A platform says which of these it can.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
        /// Which one.
        message_id: String,
        /// The new text.
        content: String,
    },
    /// Shows that the agent is at work.
    Typing {
        /// A status text, where the platform has one; empty clears it.
        content: Option<String>,
    },
    /// Removes a message.
    Delete {
        /// Which one.
        message_id: String,
    },
    /// Shows a reply while it is being written.
    Draft {
        /// The client's number for the draft.
        draft_id: i64,
        /// The text so far.
        content: String,
        /// Whether this is the whole of it.
        #[serde(rename = "final")]
        is_final: bool,
    },
    /// Shows the steps of a turn.
    TaskCard {
        /// Which card.
        card_id: String,
        /// Its parts, as the client writes them.
        chunks: Vec<Value>,
    },
    /// Ends a card.
    TaskCardStop {
        /// Which card.
        card_id: String,
    },
    /// Sends a file by reference.
    SendMedia {
        /// `image`, `voice`, `audio`, `video` or `document`.
        media_kind: String,
        /// Where the file is.
        source_url: String,
        /// The caption.
        content: String,
        /// The message it answers.
        reply_to: Option<String>,
        /// The name to show.
        filename: Option<String>,
    },
    /// Asks a question with buttons.
    Prompt {
        /// The question.
        content: String,
        /// `approval`, `clarify` or `choice`.
        prompt_kind: String,
        /// The client's name for it.
        prompt_id: String,
        /// The buttons.
        options: Vec<PromptOption>,
        /// The message it answers.
        reply_to: Option<String>,
        /// For how long it waits.
        timeout_s: Option<f64>,
    },
    /// Adds or takes back a reaction.
    React {
        /// To which message.
        message_id: String,
        /// Which one.
        emoji: String,
        /// Whether it is taken back.
        remove: bool,
    },
    /// Opens a thread.
    ThreadCreate {
        /// Its name.
        thread_name: String,
    },
    /// Renames a thread.
    ThreadRename {
        /// Which one.
        message_id: String,
        /// Its new name.
        thread_name: String,
    },
    /// Asks what a chat is called and what it is.
    GetChatInfo,
    /// Writes a message with a capability that the desk keeps. Only the desk makes it, of what a
    /// session of an agent asked for; the capability itself is never part of it.
    FollowUp {
        /// The session it was lent for, as its client calls it.
        session_key: String,
        /// Which capability.
        kind: String,
        /// The text.
        content: String,
    },
}

/// One button of a [`Op::Prompt`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromptOption {
    /// What comes back when it is pressed.
    pub id: String,
    /// What it says.
    pub label: String,
    /// How it looks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub style: Option<String>,
}

/// The status of a chat whose agent has no line. The desk says it, and a page of ours shows it
/// for as long as nothing follows.
pub const WAKING: &str = "waking…";

/// The same, if the agent was woken too often to be called now.
pub const HELD: &str = "asleep: woken too often this hour, gets it later";

/// What people are told whose agent could not be woken in time.
pub const UNREACHABLE: &str = "Your agent could not be woken for a day. What you wrote is kept, and it gets \
                               it when it is up again. Its owner has been told.";

impl Op {
    /// Whether only clients after Hermes 0.19 do it by themselves.
    pub const fn is_newer(&self) -> bool {
        !matches!(self, Self::Send { .. } | Self::GetChatInfo | Self::FollowUp { .. })
    }

    /// Whether it is shown for a moment and leaves nothing behind.
    pub const fn is_fleeting(&self) -> bool {
        matches!(self, Self::Typing { .. } | Self::Draft { is_final: false, .. })
    }

    /// The same, with the agent's name before every text that people read, so that agents behind one bot can be told apart.
    #[must_use]
    pub fn spoken_as(mut self, name: &str) -> Self {
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

    /// The kind of the capability it uses.
    pub fn capability(&self) -> Option<&str> {
        if let Self::FollowUp { kind, .. } = self { Some(kind) } else { None }
    }

    /// Its name on the wire.
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
