//! Decisions as pure functions over known facts.
//!
//! An agent receives an event if the author may reach the agent (*authorised*), if the agent's people can see the place
//! themselves (*visible*), and if the event concerns the agent (*relevant*). Each layer only removes. The author's
//! binding comes first: authors reach their own agent, and the binding skips only relevance.

mod letter;
mod send;

pub use letter::{AdmittedLetter, LetterGrants, LetterNotGranted, decide_letter};
pub use send::{BotTag, Reach, SendRefusal, decide_change, decide_send};

use nightdesk_types::{AgentId, Principal, Relevance, TenantScope, Visibility};

use crate::Recipient;
use crate::facts::{EventFacts, EventPlace};

/// The facts about an author and a place.
#[derive(Clone, Copy, Debug)]
pub struct ReachView<'a> {
    /// The author's agents. The first is the default where no other rule chooses one.
    pub own: &'a [Recipient],
    /// The grant of the place.
    pub grant: Option<PlaceGrant<'a>>,
}

/// A place that was granted to an agent.
#[derive(Clone, Copy, Debug)]
pub struct PlaceGrant<'a> {
    /// The agent that may be reached there.
    pub recipient: Recipient,
    /// The extent of the grant that contains the place.
    pub extent: GrantExtent,
    /// The people who may reach it.
    pub principal: Principal,
    /// True if the author is on the agent's allow list.
    pub is_listed: bool,
    /// The visibility of the place for the agent's people.
    pub sight: Visibility,
    /// The agent's relevance policy.
    pub relevance: &'a Relevance,
}

/// The extent of a grant. The smallest one counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GrantExtent {
    /// The chat.
    Chat,
    /// The channel that contains the thread.
    Parent,
    /// The guild, workspace or server.
    Scope,
    /// Every chat of the bot.
    Bot,
}

/// The reason why an agent does not receive an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Refusal {
    /// The event has no author.
    #[error("the event names no author")]
    NoAuthor,
    /// The author is bound to no agent, and the place is granted to none.
    #[error("the author is bound to no agent here")]
    UnboundAuthor,
    /// The agent may be reached there, but not by this author.
    #[error("the agent may not be reached by this author")]
    NotWelcome,
    /// None of the agent's people can see the place.
    #[error("no person of the agent can see this chat")]
    NotVisible,
    /// The visibility is not known.
    #[error("the desk does not know which people can see this chat")]
    SightUnknown,
    /// A program wrote it, and the agent's policy excludes programs.
    #[error("written by a program")]
    OtherBot,
    /// It does not address the bot, and the agent's policy requires that.
    #[error("not addressed to the agent")]
    NotAddressed,
    /// It answers another agent's prompt, or the prompt is no longer stored.
    #[error("an answer to a prompt that is not the agent's")]
    NotAsked,
}

/// The layers of the gate, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layer {
    /// The author may reach the agent there.
    Authorised,
    /// The agent's people can see the place.
    Visible,
    /// The event concerns the agent.
    Relevant,
}

nightdesk_types::slugs! {
    Layer:
    Authorised = "authorised",
    Visible = "visible",
    Relevant = "relevant",
}

nightdesk_types::slugs! {
    Refusal:
    NoAuthor = "no-author",
    UnboundAuthor = "unbound-author",
    NotWelcome = "not-welcome",
    NotVisible = "not-visible",
    SightUnknown = "sight-unknown",
    OtherBot = "other-bot",
    NotAddressed = "not-addressed",
    NotAsked = "not-asked",
}

impl Refusal {
    /// Returns the layer of this refusal.
    pub const fn layer(self) -> Layer {
        match self {
            Self::NoAuthor | Self::UnboundAuthor | Self::NotWelcome => Layer::Authorised,
            Self::NotVisible | Self::SightUnknown => Layer::Visible,
            Self::OtherBot | Self::NotAddressed | Self::NotAsked => Layer::Relevant,
        }
    }
}

/// The decision about one agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The agent.
    pub recipient: Recipient,
    /// The reason why it is a candidate.
    pub ground: Ground,
    /// The reason why it does not receive the event. Earlier layers passed; later ones were not checked.
    pub refusal: Option<Refusal>,
    /// True if it would receive the event as a participant of the thread.
    pub may_continue: bool,
}

/// The reason why an agent is a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ground {
    /// The author is bound to it.
    Binding,
    /// The place, or a larger extent that contains it, is granted to it.
    Grant(GrantExtent),
}

/// The decision about an event: one verdict per candidate agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Decision {
    /// The verdicts, ordered by agent.
    pub verdicts: Vec<Verdict>,
}

/// The reason why no agent receives an event, and the agent that came closest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{refusal}")]
pub struct AdmissionRefusal {
    /// The tenant and agent, if there was a candidate.
    pub agent: Option<(TenantScope, AgentId)>,
    /// The refusal of the last layer.
    pub refusal: Refusal,
}

impl Decision {
    /// Returns the recipients, possibly of several tenants, or the reason why there are none.
    pub fn recipients(&self) -> Result<Vec<Recipient>, AdmissionRefusal> {
        let admitted = self.verdicts.iter().filter(|verdict| verdict.refusal.is_none());
        let recipients: Vec<Recipient> = admitted.map(|verdict| verdict.recipient).collect();
        if recipients.is_empty() { Err(self.refusal()) } else { Ok(recipients) }
    }

    /// Returns every candidate that does not receive it.
    pub fn passed_over(&self) -> impl Iterator<Item = AdmissionRefusal> {
        self.verdicts.iter().filter_map(|verdict| {
            let Recipient { scope, agent, .. } = verdict.recipient;
            Some(AdmissionRefusal { agent: Some((scope, agent)), refusal: verdict.refusal? })
        })
    }

    /// Returns the agent that receives the event only as a participant of the thread.
    pub fn may_continue(&self) -> Option<Recipient> {
        self.verdicts.iter().find(|verdict| verdict.may_continue).map(|verdict| verdict.recipient)
    }

    fn refusal(&self) -> AdmissionRefusal {
        let stranger = AdmissionRefusal { agent: None, refusal: Refusal::UnboundAuthor };
        self.passed_over().max_by_key(|refused| refused.refusal.layer()).unwrap_or(stranger)
    }
}

/// Decides which agents receive an event.
pub fn decide(view: &ReachView<'_>, facts: &EventFacts<'_>) -> Decision {
    let own = own_agent(view, facts);
    // A direct chat contains only the person and their agent.
    let shared = own.is_none() || !facts.place.is_direct;
    let grant = view.grant.filter(|grant| shared && Some(grant.recipient) != own);
    let by_binding = own.map(|recipient| Verdict {
        recipient,
        ground: Ground::Binding,
        refusal: None,
        may_continue: false,
    });
    let by_grant = grant.map(|grant| {
        let refusal = check_grant(&grant, facts).err();
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

/// Returns the author's agent that the place is granted to, or else the author's first agent.
fn own_agent(view: &ReachView<'_>, facts: &EventFacts<'_>) -> Option<Recipient> {
    // A program owns no agent, even if its id is bound to one.
    let own = if facts.is_program { &[] } else { view.own };
    let holder = view.grant.map(|grant| grant.recipient);
    holder.filter(|holder| own.contains(holder)).or_else(|| own.first().copied())
}

fn check_grant(grant: &PlaceGrant<'_>, facts: &EventFacts<'_>) -> Result<(), Refusal> {
    check_author(grant)?;
    check_visibility(grant, facts)?;
    check_relevance(grant.relevance, facts)
}

fn check_author(grant: &PlaceGrant<'_>) -> Result<(), Refusal> {
    let is_welcome = match grant.principal {
        Principal::Any => true,
        Principal::AllowList => grant.is_listed,
        // The agent's own people reach it by their binding.
        Principal::OwnerOnly => false,
    };
    is_welcome.then_some(()).ok_or(Refusal::NotWelcome)
}

fn check_visibility(grant: &PlaceGrant<'_>, facts: &EventFacts<'_>) -> Result<(), Refusal> {
    match grant.sight {
        // A direct chat has no other viewers, and was opened to write to the agent.
        _ if facts.place.is_direct => Ok(()),
        Visibility::Sees => Ok(()),
        Visibility::Blind => Err(Refusal::NotVisible),
        Visibility::Unknown => Err(Refusal::SightUnknown),
    }
}

fn check_relevance(relevance: &Relevance, facts: &EventFacts<'_>) -> Result<(), Refusal> {
    if facts.is_program && !relevance.allow_other_bots {
        return Err(Refusal::OtherBot);
    }
    let is_free = || {
        let EventPlace { scope, chat, parent, is_direct } = facts.place;
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
