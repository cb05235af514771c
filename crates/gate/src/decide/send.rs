//! Sends: as which bot an agent speaks.

use nightdesk_types::BotId;

/// A bot through which an agent may write to a chat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reach {
    /// The bot.
    pub bot: BotId,
    /// Its platform's name.
    pub platform: String,
    /// What the platform calls it.
    pub handle: String,
    /// The name that tells the agent apart from others in that chat, where there are others and it has one.
    pub speaks_as: Option<String>,
}

/// As what an agent wants to speak, or its line may. What is not named may be any.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tag {
    /// The platform it named.
    pub platform: Option<String>,
    /// The bot it named, by the platform's id.
    pub handle: Option<String>,
}

impl Tag {
    /// Whether a bot of that name on that platform may be meant.
    pub fn names(&self, platform: &str, handle: &str) -> bool {
        self.platform.as_ref().is_none_or(|named| named == platform)
            && self.handle.as_ref().is_none_or(|named| named == handle)
    }
}

/// Why a send goes nowhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SendRefusal {
    /// Nothing lets the agent write there.
    #[error("this chat is not one of the agent's")]
    NotReached,
    /// The line did not say hello for that bot.
    #[error("the line does not speak for that bot")]
    NotGreeted,
    /// Two bots know a chat of that id, and none was named.
    #[error("several bots know this chat; name one")]
    Ambiguous,
    /// What it asks would be taken for what another agent asked.
    #[error("another prompt has this id; take a new one")]
    PromptTaken,
}

/// Through which bot a send goes, of those the line greeted for and the agent has a reach by. A hello
/// counts for whatever bots it names now: the agent may have come to one after its line.
pub fn decide_send<'a>(
    greeted: &[Tag],
    reaches: &'a [Reach],
    tag: &Tag,
) -> Result<&'a Reach, SendRefusal> {
    let fits = |tag: &Tag, reach: &Reach| tag.names(&reach.platform, &reach.handle);
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
