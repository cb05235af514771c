//! Decisions: pure functions over what the store knows.

use nightdesk_types::BotId;

use crate::Recipient;

/// What is known about one author in one chat of one bot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// The agents the author is bound to, oldest binding first.
    pub bound: Vec<Recipient>,
    /// Who was granted the chat, or every chat of the bot.
    pub granted: Vec<Grant>,
}

/// A chat given to an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grant {
    /// Which agent may be reached there.
    pub recipient: Recipient,
    /// By whom.
    pub principal: Principal,
}

/// Who may reach an agent in a chat that was granted to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Principal {
    /// Only people bound to it.
    OwnerOnly,
    /// Anyone.
    Any,
}

/// Why nobody receives an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Refusal {
    /// Nobody is named as its author.
    #[error("the event names no author")]
    NoAuthor,
    /// The author is bound to no agent, and no grant lets strangers in.
    #[error("the author is bound to no agent here")]
    UnboundAuthor,
}

impl Refusal {
    /// Its name in rows and on pages.
    pub const fn slug(self) -> &'static str {
        match self {
            Self::NoAuthor => "no-author",
            Self::UnboundAuthor => "unbound-author",
        }
    }
}

/// Who receives an event: one or more agents, perhaps of several tenants, or why nobody.
///
/// Author first: an author's own agent is reached wherever they write.
pub fn decide(snapshot: &Snapshot) -> Result<Vec<Recipient>, Refusal> {
    let own = snapshot.bound.first().copied();
    let welcome = |grant: &&Grant| match grant.principal {
        Principal::Any => true,
        Principal::OwnerOnly => snapshot.bound.contains(&grant.recipient),
    };
    let granted = snapshot.granted.iter().filter(welcome).map(|grant| grant.recipient);
    let mut recipients: Vec<Recipient> = own.into_iter().chain(granted).collect();
    recipients.sort();
    recipients.dedup();
    if recipients.is_empty() { Err(Refusal::UnboundAuthor) } else { Ok(recipients) }
}

/// A bot through which an agent may write to a chat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reach {
    /// The bot.
    pub bot: BotId,
    /// Its platform's name.
    pub platform: String,
    /// What the platform calls it.
    pub handle: String,
}

/// As what an agent wants to speak.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tag {
    /// The platform it named.
    pub platform: Option<String>,
    /// The bot it named, by the platform's id.
    pub handle: Option<String>,
}

/// Why a send goes nowhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SendRefusal {
    /// Nothing lets the agent write there.
    #[error("this chat is not one of the agent's")]
    NotReached,
    /// The line did not say hello for that bot, or may not.
    #[error("the line does not speak for that bot")]
    NotGreeted,
    /// Two bots know a chat of that id, and none was named.
    #[error("several bots know this chat; name one")]
    Ambiguous,
}

/// Through which bot a send goes, of those the line greeted for and the agent has a reach by.
pub fn decide_send(greeted: &[BotId], reaches: &[Reach], tag: &Tag) -> Result<BotId, SendRefusal> {
    let named = |reach: &&Reach| {
        tag.platform.as_ref().is_none_or(|platform| *platform == reach.platform)
            && tag.handle.as_ref().is_none_or(|handle| *handle == reach.handle)
    };
    let mut named = reaches.iter().filter(named).peekable();
    if named.peek().is_none() {
        return Err(SendRefusal::NotReached);
    }
    let mut allowed = named.filter(|reach| greeted.contains(&reach.bot));
    let Some(first) = allowed.next() else { return Err(SendRefusal::NotGreeted) };
    if allowed.any(|other| other.bot != first.bot) {
        return Err(SendRefusal::Ambiguous);
    }
    Ok(first.bot)
}

#[cfg(test)]
mod tests;
