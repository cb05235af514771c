//! Decisions: pure functions over what is known.
//!
//! An event is delivered to an agent if it may be seen by it (*authorised*), if the agent's people
//! can see it themselves (*visible*), and if it concerns the agent (*relevant*). Each layer only takes
//! away. Author first: who writes reaches their own agent, and that skips relevance alone.

mod letter;
mod send;

pub use letter::{AdmittedLetter, LetterGrants, LetterNotGranted, decide_letter};
pub use send::{Reach, SendRefusal, Tag, decide_send};

use nightdesk_types::{AgentId, Principal, Relevance, Sight, TenantScope};

use crate::Recipient;
use crate::facts::{Facts, Place};

/// What is known about an author and the place where they write.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// The author's agents. The first is for where nothing else says which.
    pub own: &'a [Recipient],
    /// The agent that the place belongs to.
    pub grant: Option<Grant<'a>>,
}

/// A place that was given to an agent.
#[derive(Clone, Copy, Debug)]
pub struct Grant<'a> {
    /// Which agent may be reached there.
    pub recipient: Recipient,
    /// How much was given of which the place is a part.
    pub extent: Extent,
    /// By whom it may be reached.
    pub principal: Principal,
    /// Whether the author is on the agent's list.
    pub is_listed: bool,
    /// Whether the agent's own people can see the place.
    pub sight: Sight,
    /// What concerns it.
    pub relevance: &'a Relevance,
}

/// How much was given. The smallest counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// The chat.
    Chat,
    /// The channel it is a thread of.
    Parent,
    /// The guild, workspace or server.
    Scope,
    /// Every chat of the bot.
    Bot,
}

/// Why an agent, or nobody at all, receives an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Refusal {
    /// Nobody is named as its author.
    #[error("the event names no author")]
    NoAuthor,
    /// The author is bound to no agent, and the place belongs to none.
    #[error("the author is bound to no agent here")]
    UnboundAuthor,
    /// The agent may be reached there, but not by this author.
    #[error("the agent may not be reached by this author")]
    NotWelcome,
    /// None of the agent's people can see the place.
    #[error("nobody the agent belongs to can see this place")]
    NotVisible,
    /// It is not known whether they can.
    #[error("the platform has not said who can see this place")]
    SightUnknown,
    /// A program wrote it, and the agent does not talk to programs.
    #[error("written by a program")]
    OtherBot,
    /// It was not said to the bot, and the agent wants to be addressed.
    #[error("not addressed to the agent")]
    NotAddressed,
    /// It answers what another agent asked, or nobody remembers who did.
    #[error("an answer to what the agent did not ask")]
    NotAsked,
    /// The author writes to the agent too fast.
    #[error("the author writes too fast")]
    TooFast,
}

/// The layers of the gate, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layer {
    /// Whether the author may reach the agent there.
    Authorised,
    /// Whether the agent's people can see the place.
    Visible,
    /// Whether it concerns the agent.
    Relevant,
    /// Whether the author writes slowly enough. The desk's own, after the gate's.
    Paced,
}

impl Layer {
    /// Its name in rows and on pages.
    pub const fn slug(self) -> &'static str {
        match self {
            Self::Authorised => "authorised",
            Self::Visible => "visible",
            Self::Relevant => "relevant",
            Self::Paced => "paced",
        }
    }
}

impl Refusal {
    /// Every one there is.
    pub const ALL: [Self; 9] = [
        Self::NoAuthor,
        Self::UnboundAuthor,
        Self::NotWelcome,
        Self::NotVisible,
        Self::SightUnknown,
        Self::OtherBot,
        Self::NotAddressed,
        Self::NotAsked,
        Self::TooFast,
    ];

    /// Its name in rows and on pages.
    pub const fn slug(self) -> &'static str {
        match self {
            Self::NoAuthor => "no-author",
            Self::UnboundAuthor => "unbound-author",
            Self::NotWelcome => "not-welcome",
            Self::NotVisible => "not-visible",
            Self::SightUnknown => "sight-unknown",
            Self::OtherBot => "other-bot",
            Self::NotAddressed => "not-addressed",
            Self::NotAsked => "not-asked",
            Self::TooFast => "too-fast",
        }
    }

    /// The one of this name.
    pub fn named(slug: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.slug() == slug)
    }

    /// Which layer says it.
    pub const fn layer(self) -> Layer {
        match self {
            Self::NoAuthor | Self::UnboundAuthor | Self::NotWelcome => Layer::Authorised,
            Self::NotVisible | Self::SightUnknown => Layer::Visible,
            Self::OtherBot | Self::NotAddressed | Self::NotAsked => Layer::Relevant,
            Self::TooFast => Layer::Paced,
        }
    }
}

/// What was decided about one agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Which agent.
    pub recipient: Recipient,
    /// Why it was thought of at all.
    pub ground: Ground,
    /// Why it does not receive the event. The layers before said yes, those after were not asked.
    pub refusal: Option<Refusal>,
    /// Whether it would receive the event if it took part in the thread.
    pub may_continue: bool,
}

/// Why an agent is thought of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ground {
    /// The author is bound to it.
    Binding,
    /// The place, or what it is part of, belongs to it.
    Grant(Extent),
}

/// What was decided about an event: of every agent that was thought of, whether it receives it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Decision {
    /// Agents, in their order.
    pub verdicts: Vec<Verdict>,
}

/// Why nobody receives an event, and whose agent came closest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{refusal}")]
pub struct Refused {
    /// Whose, and which, if any agent was thought of.
    pub agent: Option<(TenantScope, AgentId)>,
    /// The last no.
    pub refusal: Refusal,
}

impl Decision {
    /// Who receives it: one or more agents, perhaps of several tenants, or why nobody.
    pub fn recipients(&self) -> Result<Vec<Recipient>, Refused> {
        let admitted = self.verdicts.iter().filter(|verdict| verdict.refusal.is_none());
        let recipients: Vec<Recipient> = admitted.map(|verdict| verdict.recipient).collect();
        if recipients.is_empty() { Err(self.refused()) } else { Ok(recipients) }
    }

    /// Every agent that was thought of and does not receive it.
    pub fn passed_over(&self) -> impl Iterator<Item = Refused> {
        self.verdicts.iter().filter_map(|verdict| {
            let Recipient { scope, agent, .. } = verdict.recipient;
            Some(Refused { agent: Some((scope, agent)), refusal: verdict.refusal? })
        })
    }

    /// The agent that receives the event only if it takes part in the thread.
    pub fn may_continue(&self) -> Option<Recipient> {
        self.verdicts.iter().find(|verdict| verdict.may_continue).map(|verdict| verdict.recipient)
    }

    fn refused(&self) -> Refused {
        let stranger = Refused { agent: None, refusal: Refusal::UnboundAuthor };
        self.passed_over().max_by_key(|refused| refused.refusal.layer()).unwrap_or(stranger)
    }
}

/// Decides who receives an event.
pub fn decide(view: &View<'_>, facts: &Facts<'_>) -> Decision {
    let own = own_agent(view, facts);
    // A person and their agent are alone in a direct chat.
    let shared = own.is_none() || !facts.place.is_direct;
    let grant = view.grant.filter(|grant| shared && Some(grant.recipient) != own);
    let by_binding = own.map(|recipient| Verdict {
        recipient,
        ground: Ground::Binding,
        refusal: None,
        may_continue: false,
    });
    let by_grant = grant.map(|grant| {
        let refusal = judge(&grant, facts).err();
        let is_thread = facts.place.parent.is_some() && !facts.takes_part;
        Verdict {
            recipient: grant.recipient,
            ground: Ground::Grant(grant.extent),
            refusal,
            may_continue: refusal == Some(Refusal::NotAddressed)
                && is_thread
                && grant.relevance.continues_threads,
        }
    });
    let mut verdicts: Vec<Verdict> = by_binding.into_iter().chain(by_grant).collect();
    verdicts.sort_by_key(|verdict| verdict.recipient);
    Decision { verdicts }
}

/// Of the author's agents, the one the place belongs to; otherwise their first.
fn own_agent(view: &View<'_>, facts: &Facts<'_>) -> Option<Recipient> {
    // A program owns no agent, whatever id it has.
    let own = if facts.is_program { &[] } else { view.own };
    let holder = view.grant.map(|grant| grant.recipient);
    holder.filter(|holder| own.contains(holder)).or_else(|| own.first().copied())
}

fn judge(grant: &Grant<'_>, facts: &Facts<'_>) -> Result<(), Refusal> {
    authorised(grant)?;
    visible(grant, facts)?;
    relevant(grant.relevance, facts)
}

fn authorised(grant: &Grant<'_>) -> Result<(), Refusal> {
    let is_welcome = match grant.principal {
        Principal::Any => true,
        Principal::AllowList => grant.is_listed,
        // Its own people reach it by their binding.
        Principal::OwnerOnly => false,
    };
    is_welcome.then_some(()).ok_or(Refusal::NotWelcome)
}

fn visible(grant: &Grant<'_>, facts: &Facts<'_>) -> Result<(), Refusal> {
    match grant.sight {
        // Nobody else can see a direct chat, and it was opened to write to the agent.
        _ if facts.place.is_direct => Ok(()),
        Sight::Sees => Ok(()),
        Sight::Blind => Err(Refusal::NotVisible),
        Sight::Unknown => Err(Refusal::SightUnknown),
    }
}

fn relevant(relevance: &Relevance, facts: &Facts<'_>) -> Result<(), Refusal> {
    if facts.is_program && !relevance.allow_other_bots {
        return Err(Refusal::OtherBot);
    }
    let is_free = || {
        let Place { scope, chat, parent, is_direct } = facts.place;
        let free = |id: &str| relevance.free_scopes.iter().any(|free| free == id);
        is_direct || free(chat) || parent.is_some_and(free) || scope.is_some_and(free)
    };
    let is_continued = relevance.continues_threads && facts.takes_part;
    if relevance.require_address && !facts.is_addressed && !is_continued && !is_free() {
        return Err(Refusal::NotAddressed);
    }
    Ok(())
}

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;
