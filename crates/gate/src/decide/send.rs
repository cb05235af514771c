//! Chooses the bot of a send.

use nightdesk_types::BotId;

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

#[cfg(test)]
mod tests;
