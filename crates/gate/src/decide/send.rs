//! Chooses the bot of a send.

use nightdesk_types::BotId;
use nightdesk_types::limits::SEND_HOURS;
use nightdesk_types::send::Op;

use crate::bot_reach::ScopedAgent;

/// A bot through which an agent may write to a chat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reach {
    /// The bot.
    pub bot: BotId,
    /// Its platform's name.
    pub platform: String,
    /// The platform's name of the bot.
    pub handle: String,
    /// The name that distinguishes the agent from others in that chat, if there are others and it has a name.
    pub speaks_as: Option<String>,
    /// True if a grant lets the agent change messages of others in that chat.
    pub is_moderator: bool,
}

/// The platform and bot that a send or a hello names. A missing name matches any.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BotTag {
    /// The named platform.
    pub platform: Option<String>,
    /// The named bot, by the platform's id.
    pub handle: Option<String>,
}

impl BotTag {
    /// Returns true if the tag matches a bot on a platform.
    pub fn matches(&self, platform: &str, handle: &str) -> bool {
        self.platform.as_ref().is_none_or(|named| named == platform)
            && self.handle.as_ref().is_none_or(|named| named == handle)
    }
}

/// The reason why a send is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SendRefusal {
    /// The agent may not write to this chat.
    #[error("this chat is not one of the agent's")]
    NotReached,
    /// The line sent no hello for that bot.
    #[error("the line sent no hello for that bot")]
    NotGreeted,
    /// Two bots have a chat with that id, and the send names none.
    #[error("several bots have this chat; name one")]
    Ambiguous,
    /// The prompt's id belongs to a prompt of another agent.
    #[error("another prompt has this id; use a new one")]
    PromptTaken,
    /// The message or thread is not the agent's. An unknown one gets the same response.
    #[error(
        "the agent did not send this message in the last {SEND_HOURS} hours; \
         change its own messages only, or ask the operator for moderation of this chat"
    )]
    NotOwnMessage,
}

/// Chooses the bot of a send, among those that the line sent a hello for and through which the agent reaches the chat.
/// A hello matches the bots that it names now: the agent may have got a bot after its line opened.
pub fn decide_send<'a>(
    greeted: &[BotTag],
    reaches: &'a [Reach],
    tag: &BotTag,
) -> Result<&'a Reach, SendRefusal> {
    let fits = |tag: &BotTag, reach: &Reach| tag.matches(&reach.platform, &reach.handle);
    let mut named = reaches.iter().filter(|reach| fits(tag, reach)).peekable();
    if named.peek().is_none() {
        return Err(SendRefusal::NotReached);
    }
    let mut allowed = named.filter(|reach| greeted.iter().any(|hello| fits(hello, reach)));
    let Some(first) = allowed.next() else { return Err(SendRefusal::NotGreeted) };
    if allowed.any(|other| other.bot != first.bot) {
        return Err(SendRefusal::Ambiguous);
    }
    Ok(first)
}

/// Decides whether an agent may change a message or a thread: its own, or any in a chat that it moderates. Stored
/// receipts name the sender. A message without a receipt is a person's or an old one: the agent may react to it, as
/// clients do to the message that they answer.
pub fn decide_change(
    agent: ScopedAgent,
    reach: &Reach,
    op: &Op,
    sender: Option<ScopedAgent>,
) -> Result<(), SendRefusal> {
    let is_allowed = match sender {
        Some(sender) => sender == agent,
        None => op.changed_message().is_none() || matches!(op, Op::React { .. }),
    };
    (is_allowed || reach.is_moderator).then_some(()).ok_or(SendRefusal::NotOwnMessage)
}

#[cfg(test)]
mod tests;
