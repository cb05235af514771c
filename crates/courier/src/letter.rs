//! Letters: what one agent sends to one other, and how it stands with it.

use std::time::Duration;

use nightdesk_gate::LetterGrants;
use nightdesk_protocol::delivery::Kind;
use nightdesk_types::{AgentId, BotId, LetterId, Seq, TenantScope, Timestamp};

use crate::decide::PutRefusal;
use crate::store::Route;

/// An agent, and whose it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Party {
    /// Whose agent it is.
    pub scope: TenantScope,
    /// The agent.
    pub agent: AgentId,
}

impl Party {
    /// The tenant and the agent, as the gate names them.
    pub const fn key(self) -> (TenantScope, AgentId) {
        (self.scope, self.agent)
    }
}

/// A letter to be put.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewLetter {
    /// The id it gets.
    pub id: LetterId,
    /// Who was proven to send it.
    pub from: Party,
    /// For whom it is.
    pub to: Party,
    /// The emit that it is of. The same of the same sender to the same agent is the same letter.
    pub dispatch_id: String,
    /// What was asked.
    pub route: Route,
    /// Whether it is to be known or to be done.
    pub kind: Kind,
    /// Which session of the agent it is for.
    pub session: Option<String>,
    /// By what its sender knows the reply.
    pub correlation_id: Option<String>,
    /// When the desk is to put it; `None`: it is put at once.
    pub when: Option<Timestamp>,
    /// For how long its sender waits for the reply; `None`: nobody waits.
    pub wait: Option<Duration>,
    /// Whether it goes out by another way: nothing of it lies in the inbox, full or not.
    pub goes_out: bool,
}

/// What an agent finds in its inbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LetterEntry {
    /// The bot through which it seems to come.
    pub bot: BotId,
    /// The chat.
    pub chat_id: String,
    /// Its wire form.
    pub body: Vec<u8>,
}

/// A letter with the entry that its agent finds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Posting {
    /// The letter.
    pub letter: NewLetter,
    /// The entry.
    pub entry: LetterEntry,
}

/// A question for the agent that an address names.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AddressQuery {
    /// The sender.
    pub from: Party,
    /// The name or the id of the recipient, without a session.
    pub agent: String,
}

/// Everything that a store knows about an address.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AddressFacts {
    /// The sender's name. `None`: it is no agent of its tenant.
    pub sender: Option<String>,
    /// The agent of the sender's own tenant that has this id, or else this name.
    pub own: Option<NamedAgent>,
    /// The agent of another tenant that has this id and that the sender's tenant granted to the sender.
    pub peer: Option<GrantedPeer>,
}

/// An agent of the sender's own tenant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedAgent {
    /// Its id.
    pub id: AgentId,
    /// Its name.
    pub name: String,
}

/// An agent of another tenant, and the grants between it and the sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GrantedPeer {
    /// The agent.
    pub party: Party,
    /// The grants.
    pub grants: LetterGrants,
}

/// How it stands with a letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LetterState {
    /// It is not due yet.
    Scheduled,
    /// It lies in the agent's inbox.
    Put,
    /// The agent replied.
    Replied,
    /// Nobody replied while somebody waited.
    TimedOut,
}

impl LetterState {
    /// Every one there is.
    pub const ALL: [Self; 4] = [Self::Scheduled, Self::Put, Self::Replied, Self::TimedOut];

    /// Its name in rows and for programs.
    pub const fn slug(self) -> &'static str {
        match self {
            Self::Scheduled => "scheduled",
            Self::Put => "put",
            Self::Replied => "replied",
            Self::TimedOut => "timed-out",
        }
    }

    /// The one of this name.
    pub fn named(slug: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.slug() == slug)
    }
}

/// A letter as its row tells of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Letter {
    /// Its id.
    pub id: LetterId,
    /// Who sent it.
    pub from: AgentId,
    /// For whom it is.
    pub to: AgentId,
    /// The emit that it is of.
    pub dispatch_id: String,
    /// What was asked.
    pub route: Route,
    /// Whether it is to be known or to be done.
    pub kind: Kind,
    /// Which session of the agent it is for.
    pub session: Option<String>,
    /// By what its sender knows the reply.
    pub correlation_id: Option<String>,
    /// How many letters it is the end of, each sent while the one before was answered.
    pub hop: u32,
    /// How it stands.
    pub state: LetterState,
    /// Its number in the inbox; `None`: it is not there yet.
    pub seq: Option<Seq>,
    /// Whether the agent acknowledged it.
    pub is_acked: bool,
    /// When it was sent.
    pub sent_at: Timestamp,
    /// When it is due.
    pub due_at: Option<Timestamp>,
    /// Until when its sender waits.
    pub reply_by: Option<Timestamp>,
    /// What the agent replied, and when.
    pub reply: Option<(String, Timestamp)>,
}

/// The line of an agent that is up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Live {
    /// What its gateway calls itself: that is the session.
    pub session: String,
    /// Whether something waits for its ack.
    pub is_busy: bool,
}

/// What came of putting a letter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Put {
    /// It lies in the inbox, and this line of the agent is up.
    Stored {
        /// Its number there.
        seq: Seq,
        /// The line.
        live: Option<Live>,
    },
    /// It is kept until it is due.
    Kept,
    /// It is written down, and goes out by another way.
    Noted,
    /// It was here before: this is what became of it.
    Duplicate(Box<Letter>),
    /// There is no such agent.
    Unknown,
    /// The tenants of the two did not both allow it.
    NotGranted,
    /// It would be the end of too many letters.
    TooManyHops,
    /// The agent's inbox holds as much as it may.
    Full,
}

impl From<PutRefusal> for Put {
    fn from(refusal: PutRefusal) -> Self {
        match refusal {
            PutRefusal::NotGranted => Self::NotGranted,
            PutRefusal::UnknownAgent => Self::Unknown,
            PutRefusal::TooManyHops => Self::TooManyHops,
            PutRefusal::InboxFull => Self::Full,
        }
    }
}

/// What is to be handed over for a letter that is due.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Due {
    /// What is put, if it goes into the inbox.
    pub entry: LetterEntry,
    /// What was asked.
    pub route: Route,
    /// Whether the agent's inbox holds as much as it may. If it has room, the letter counts as put.
    pub is_full: bool,
}

/// Somebody who can be written to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peer {
    /// Who, and whose.
    pub party: Party,
    /// What it is called; `None`: it is another tenant's, and known by its id alone.
    pub name: Option<String>,
    /// Its line, if it is up.
    pub live: Option<Live>,
}

/// What came of a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replied {
    /// It is the reply, and the letter's sender finds it.
    Taken,
    /// There was one before.
    Again,
    /// Nobody waits for it any more.
    Late,
    /// No such letter came to that agent.
    Unknown,
}

/// Agents of two tenants that may write to each other, as far as one of them says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grant {
    /// Whose agent it is that says so.
    pub party: Party,
    /// The other.
    pub peer: Party,
    /// Since when.
    pub granted_at: Timestamp,
    /// Whether the other says so too.
    pub is_mutual: bool,
}
