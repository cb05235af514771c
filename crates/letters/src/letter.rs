//! Letters between two agents, and their states.

use std::time::Duration;

use nightdesk_gate::LetterGrants;
use nightdesk_protocol::delivery::PayloadKind;
use nightdesk_protocol::session_names::SessionNames;
use nightdesk_types::{AgentId, BotId, LetterId, Seq, TenantScope, Timestamp};

/// An agent and its tenant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Party {
    /// The tenant.
    pub scope: TenantScope,
    /// The agent.
    pub agent: AgentId,
}

impl Party {
    /// Returns the tenant and the agent, as the gate names them.
    pub const fn key(self) -> (TenantScope, AgentId) {
        (self.scope, self.agent)
    }
}

/// The operation that a connector is called for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// A delivery.
    Deliver,
    /// A wake.
    Wake,
}

impl Route {
    /// Returns the name on the wire and in rows.
    pub const fn slug(self) -> &'static str {
        match self {
            Self::Deliver => "deliver",
            Self::Wake => "wake",
        }
    }

    /// Returns the route with this name.
    pub fn from_slug(slug: &str) -> Option<Self> {
        [Self::Deliver, Self::Wake].into_iter().find(|route| route.slug() == slug)
    }
}

/// A letter to be put.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewLetter {
    /// The id.
    pub id: LetterId,
    /// The sender, whose identity is proven.
    pub from: Party,
    /// The recipient.
    pub to: Party,
    /// The id of the dispatch. The same id from the same sender to the same recipient is the same letter.
    pub dispatch_id: String,
    /// Delivery or wake.
    pub route: Route,
    /// Information, or a task to do.
    pub kind: PayloadKind,
    /// The session of the recipient.
    pub session: Option<String>,
    /// The id by which the sender matches the reply.
    pub correlation_id: Option<String>,
    /// The time at which the desk puts it; `None`: it is put at once.
    pub when: Option<Timestamp>,
    /// The time that the sender waits for the reply; `None`: the sender does not wait.
    pub wait: Option<Duration>,
    /// True if another connector delivers it, so it takes no room in the inbox.
    pub by_outlet: bool,
}

/// The inbox entry of a letter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LetterEntry {
    /// The bot that it is addressed through.
    pub bot: BotId,
    /// The chat.
    pub chat_id: String,
    /// The wire form.
    pub body: Vec<u8>,
}

/// A letter with its inbox entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Posting {
    /// The letter.
    pub letter: NewLetter,
    /// The entry.
    pub entry: LetterEntry,
}

/// A query for the agent that an address names.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AddressQuery {
    /// The sender.
    pub from: Party,
    /// The name or the id of the recipient, without a session.
    pub agent: String,
}

/// The facts that a store has about an address.
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

/// The state of a letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LetterState {
    /// It is not due yet.
    Scheduled,
    /// It is in the agent's inbox.
    Put,
    /// The agent replied.
    Replied,
    /// The sender waited, and no reply came in time.
    TimedOut,
}

impl LetterState {
    /// All states.
    pub const ALL: [Self; 4] = [Self::Scheduled, Self::Put, Self::Replied, Self::TimedOut];

    /// Returns the name in rows and for programs.
    pub const fn slug(self) -> &'static str {
        match self {
            Self::Scheduled => "scheduled",
            Self::Put => "put",
            Self::Replied => "replied",
            Self::TimedOut => "timed-out",
        }
    }

    /// Returns the state with this name.
    pub fn from_slug(slug: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.slug() == slug)
    }
}

/// The row of a letter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Letter {
    /// The id.
    pub id: LetterId,
    /// The sender.
    pub from: AgentId,
    /// The recipient.
    pub to: AgentId,
    /// The id of the dispatch.
    pub dispatch_id: String,
    /// Delivery or wake.
    pub route: Route,
    /// Information, or a task to do.
    pub kind: PayloadKind,
    /// The session of the recipient.
    pub session: Option<String>,
    /// The id by which the sender matches the reply.
    pub correlation_id: Option<String>,
    /// The length of the chain of letters that it ends, each sent while the one before was answered.
    pub hop: u32,
    /// The state.
    pub state: LetterState,
    /// The number in the inbox; `None`: it is not there yet.
    pub seq: Option<Seq>,
    /// True if the agent acknowledged it.
    pub is_acked: bool,
    /// The time of sending.
    pub sent_at: Timestamp,
    /// The time at which it is due.
    pub due_at: Option<Timestamp>,
    /// The time until which its sender waits.
    pub reply_by: Option<Timestamp>,
    /// The reply and its time.
    pub reply: Option<(String, Timestamp)>,
}

/// The open line of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeerLine {
    /// The name of its gateway, which is a session of its own.
    pub session: String,
    /// The live sessions that the agent names. The outcome of a put has none of them.
    pub sessions: SessionNames,
    /// True if an entry waits for its ack.
    pub is_busy: bool,
}

impl PeerLine {
    /// Returns true if this session of the agent lives.
    pub fn has_session(&self, session: &str) -> bool {
        self.session == session || self.sessions.contains(session)
    }

    /// Returns the session in which a letter arrives: the named one if it lives, or else that of the line.
    pub fn session_for(self, named: Option<&str>) -> String {
        match named {
            Some(named) if self.has_session(named) => named.to_owned(),
            Some(_) | None => self.session,
        }
    }
}

/// The result of putting a letter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PostingOutcome {
    /// It is in the inbox, and this line of the agent is up.
    Stored {
        /// The number in the inbox.
        seq: Seq,
        /// The line.
        live: Option<PeerLine>,
    },
    /// It is stored until it is due.
    Scheduled,
    /// It is recorded, and another connector delivers it.
    Noted,
    /// It was put before. This is its row.
    Duplicate(Box<Letter>),
    /// There is no such agent.
    Unknown,
    /// The two tenants have not both granted it.
    NotGranted,
    /// It would end a chain of too many letters.
    TooManyHops,
    /// The agent's inbox is at its quota.
    Full,
}

/// A letter that is due.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DueLetter {
    /// The entry, if it goes into the inbox.
    pub entry: LetterEntry,
    /// Delivery or wake.
    pub route: Route,
    /// True if the agent's inbox is at its quota. If it has room, the letter counts as put.
    pub is_full: bool,
}

/// An agent that a sender can write to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peer {
    /// The agent and its tenant.
    pub party: Party,
    /// The name; `None`: it belongs to another tenant and is known by its id alone.
    pub name: Option<String>,
    /// The line, if it is up.
    pub live: Option<PeerLine>,
}

/// The result of a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplyOutcome {
    /// It is the reply to the letter.
    Taken,
    /// The letter has a reply already.
    Again,
    /// The sender does not wait any more.
    Late,
    /// No such letter came to that agent.
    Unknown,
}

/// One side's permission for two agents of two tenants to write to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grant {
    /// The agent of the granting tenant.
    pub party: Party,
    /// The agent of the other tenant.
    pub peer: Party,
    /// The time of the grant.
    pub granted_at: Timestamp,
    /// True if the other side granted it too.
    pub is_mutual: bool,
}
