//! What is kept of the chats: a transcript each, and a passing status.

use std::time::Duration;

use async_trait::async_trait;
use nightdesk_types::send::PromptOption;
use nightdesk_types::{BotId, StoreError, TenantScope, Timestamp};
use serde::{Deserialize, Serialize};

/// One visitor's chat with a bot.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Chat {
    /// Who runs the bot.
    pub scope: TenantScope,
    /// The bot.
    pub bot: BotId,
    /// The visitor.
    pub visitor: String,
}

/// What a visitor said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// When, as of before it was taken: an answer that comes at once stands below it.
    pub at: Timestamp,
    /// The page's name for it.
    pub nonce: String,
    /// The text.
    pub text: String,
}

/// What an agent said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// When.
    pub at: Timestamp,
    /// The text.
    pub text: String,
    /// The buttons under it.
    pub prompt: Option<Prompt>,
}

/// A question's buttons.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prompt {
    /// The client's name for the question.
    pub id: String,
    /// The buttons.
    pub options: Vec<PromptOption>,
}

/// Whether a line was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// It is new.
    New,
    /// It was here before; the first time counts.
    Before,
}

/// What becomes of an agent's line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Amend {
    /// It has another text.
    Edit(String),
    /// Its text and its buttons are gone.
    Delete,
}

/// Who wrote a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Author {
    /// The visitor.
    Visitor,
    /// The agent.
    Agent,
}

/// A line of a transcript.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The number of its last change, in its chat.
    pub seq: i64,
    /// Its name: the number of its first.
    pub message: i64,
    /// When it was said: the order in which lines are shown.
    pub at: Timestamp,
    /// By whom.
    pub author: Author,
    /// The text; none of a line that was deleted.
    pub text: String,
    /// The page's name for it, if a visitor said it.
    pub nonce: Option<String>,
    /// The buttons under it.
    pub prompt: Option<Prompt>,
    /// Whether its text was changed.
    pub edited: bool,
    /// Whether it was deleted.
    pub deleted: bool,
}

/// What the agent is doing, or what becomes of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    /// In words.
    pub text: String,
    /// When it was set: a status set again is another.
    pub set_at: Timestamp,
    /// How long it has stood.
    pub stood: Duration,
}

/// What a page is to show.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct News {
    /// The number of the chat's last change. Nothing up to it is missing from [`News::lines`],
    /// unless there were too many; newer ones may be among them.
    pub head: i64,
    /// The lines.
    pub lines: Vec<Line>,
    /// The status.
    pub status: Option<Status>,
}

/// Keeps transcripts.
#[async_trait]
pub trait Store: Send + Sync {
    /// Writes down what a visitor said, once by its nonce. Numbers of a chat are committed in
    /// their order, so that who has read up to one has missed none before it.
    async fn said(&self, chat: &Chat, said: &Said) -> Result<Written, StoreError>;

    /// Writes down what an agent said, and takes the status away. Answers the line's name.
    async fn answered(&self, chat: &Chat, answer: &Answer) -> Result<i64, StoreError>;

    /// Changes or deletes a line of the agent, which gets the next number. Answers whether there
    /// was one.
    async fn amend(&self, chat: &Chat, message: i64, amend: &Amend) -> Result<bool, StoreError>;

    /// Sets the status, or takes it away. It is no line and has no number.
    async fn show(&self, chat: &Chat, status: Option<&str>) -> Result<(), StoreError>;

    /// The lines that changed after a number, in the order of their changes, at most so many.
    async fn since(&self, chat: &Chat, after: i64, lines_max: usize) -> Result<News, StoreError>;

    /// The last lines, in the order in which they are shown.
    async fn latest(&self, chat: &Chat, lines_max: usize) -> Result<News, StoreError>;

    /// Forgets lines that are too old, and chats of which nothing is left. Answers how many.
    async fn forget(&self) -> Result<u64, StoreError>;
}
