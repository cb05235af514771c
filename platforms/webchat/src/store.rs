//! The stored data of chats: a transcript and a temporary status for each.

use std::time::Duration;

use async_trait::async_trait;
use nightdesk_types::send::PromptOption;
use nightdesk_types::{BotId, StoreError, TenantScope, Timestamp};
use serde::{Deserialize, Serialize};

/// A visitor's chat with a bot.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VisitorChat {
    /// The tenant that operates the bot.
    pub scope: TenantScope,
    /// The bot.
    pub bot: BotId,
    /// The visitor.
    pub visitor: String,
}

/// A visitor's message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VisitorMessage {
    /// The time before the message was accepted, so that an immediate answer is shown below it.
    pub at: Timestamp,
    /// The page's id of the message.
    pub nonce: String,
    /// The text.
    pub text: String,
}

/// An agent's message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentMessage {
    /// The time.
    pub at: Timestamp,
    /// The text.
    pub text: String,
    /// The buttons under the message.
    pub prompt: Option<ChatPrompt>,
}

/// The buttons of a prompt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChatPrompt {
    /// The client's id of the prompt.
    pub id: String,
    /// The buttons.
    pub options: Vec<PromptOption>,
}

/// Result of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteOutcome {
    /// The line is new.
    New,
    /// The line existed already and is unchanged.
    Before,
}

/// A change to an agent's line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LineChange {
    /// A new text.
    Edit(String),
    /// Text and buttons are removed.
    Delete,
}

/// The author of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineAuthor {
    /// The visitor.
    Visitor,
    /// The agent.
    Agent,
}

/// A line of a transcript.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChatLine {
    /// Number of the line's last change, in its chat.
    pub seq: i64,
    /// The line's id: the number of its first change.
    pub message: i64,
    /// The time, which is the display order.
    pub at: Timestamp,
    /// The author.
    pub author: LineAuthor,
    /// The text; empty if the line was deleted.
    pub text: String,
    /// The page's id of the message, if a visitor wrote it.
    pub nonce: Option<String>,
    /// The buttons under the line.
    pub prompt: Option<ChatPrompt>,
    /// True if the text was changed.
    pub edited: bool,
    /// True if the line was deleted.
    pub deleted: bool,
}

/// The agent's current activity or state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChatStatus {
    /// The text.
    pub text: String,
    /// The time when it was set. A status that is set again counts as another.
    pub set_at: Timestamp,
    /// The time since it was set.
    pub stood: Duration,
}

/// An update for a page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChatUpdate {
    /// Number of the chat's last change. [`ChatUpdate::lines`] has all changes up to it, unless there were too many; newer
    /// ones may be included.
    pub head: i64,
    /// The lines.
    pub lines: Vec<ChatLine>,
    /// The status.
    pub status: Option<ChatStatus>,
}

/// Stores transcripts.
#[async_trait]
pub trait Store: Send + Sync {
    /// Writes a visitor's message, once per nonce. The numbers of a chat are committed in order, so a reader of one
    /// number has missed no earlier one.
    async fn write_visitor_message(
        &self,
        chat: &VisitorChat,
        said: &VisitorMessage,
    ) -> Result<WriteOutcome, StoreError>;

    /// Writes an agent's message and clears the status. Returns the line's id.
    async fn write_agent_message(
        &self,
        chat: &VisitorChat,
        answer: &AgentMessage,
    ) -> Result<i64, StoreError>;

    /// Changes or deletes a line of the agent, which gets the next number. Returns true if the line existed.
    async fn change_line(
        &self,
        chat: &VisitorChat,
        message: i64,
        amend: &LineChange,
    ) -> Result<bool, StoreError>;

    /// Sets or clears the status. It is not a line and has no number.
    async fn set_status(&self, chat: &VisitorChat, status: Option<&str>) -> Result<(), StoreError>;

    /// Returns the lines that changed after a number, in the order of their changes, up to a maximum.
    async fn lines_since(
        &self,
        chat: &VisitorChat,
        after: i64,
        lines_max: usize,
    ) -> Result<ChatUpdate, StoreError>;

    /// Returns the last lines in display order.
    async fn latest_lines(
        &self,
        chat: &VisitorChat,
        lines_max: usize,
    ) -> Result<ChatUpdate, StoreError>;

    /// Deletes old lines and empty chats. Returns 0 if there were none.
    async fn delete_old(&self) -> Result<u64, StoreError>;
}
