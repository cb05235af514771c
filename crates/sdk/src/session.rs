//! Session: the agent's side of the conversation, over all its lines, as a value.
//!
//! It gets the time and what happened, and answers with what to do; it never waits. The
//! driver owns the socket, the timer and the turns, and obeys.
//!
//! # Promise
//!
//! An entry is acked after its turn ended well or its turn said so, never before, and only on a
//! line that gave it. No entry has two turns, but for one whose turn failed. Entries of one
//! session have their turns in order, one at a time. A send is said at most once, and whoever
//! asked for it always gets an answer.
//!
//! A session falls asleep only with nothing in hand, and says so before it hangs up. What
//! comes meanwhile keeps it awake, or is left unacked and comes again.

mod state;
mod line;
mod ladder;
mod entries;
mod handled;
mod sends;
mod quiet;

use nightdesk_protocol::action::Action;
use nightdesk_protocol::close::Close;
use nightdesk_protocol::descriptor::Descriptor;
use nightdesk_protocol::event::Inbound;
use nightdesk_protocol::frame::Interrupt;
use nightdesk_protocol::outcome::Outcome;
use nightdesk_protocol::passthrough::Forward;
use nightdesk_protocol::session_key::{KeySource, SessionKey, Sharing, newest};
use nightdesk_protocol::{Frame, ToGateway, TooLong};

use crate::status::{Status, Trouble};

pub(crate) use state::Session;

/// What must come from outside so that a session can be random and still be a value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seed {
    /// Tells this process's requests from those of every other.
    pub(crate) requests: [u8; 16],
    /// Spreads the dials.
    pub(crate) dials: u64,
}

/// One turn: an entry being handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Ticket(u64);

/// Who asked for a send.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct AskId(pub(crate) u64);

/// What the agent wants of the desk.
#[derive(Clone, Debug)]
pub(crate) enum Wish {
    /// Something done on a platform.
    Outbound(Box<Tagged>),
    /// A turn stopped, wherever it runs.
    Interrupt(Interrupt),
}

/// An action with what the agent knows of where it goes.
#[derive(Clone, Debug)]
pub(crate) struct Tagged {
    pub(crate) action: Action,
    pub(crate) platform: Option<String>,
    pub(crate) bot_handle: Option<String>,
}

/// What came of a wish. An interrupt that was said has nothing to tell.
pub(crate) type Answer = Result<Option<Box<Outcome>>, Unsaid>;

/// Why a wish has no outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unsaid {
    /// It was said, and nobody knows what came of it.
    Unknown,
    /// It was not said: there was no line.
    NoLine,
    /// It was not said: too much else was under way.
    Busy,
    /// It was not said: it does not fit into a frame.
    TooLong(TooLong),
    /// It was not said: it is over.
    Over,
}

/// What happened.
#[derive(Debug)]
pub(crate) enum Input {
    /// A line is open.
    Dialled,
    /// A dial came to nothing.
    DialFailed(Trouble),
    /// The desk said something.
    Heard(ToGateway),
    /// The desk pinged, or answered a ping.
    Alive,
    /// The line ended.
    Ended(Ended),
    /// The agent wants something.
    Asked(AskId, Wish),
    /// A turn says that the agent has its entry now.
    Taken(Ticket),
    /// A turn ended, well or not.
    Handled(Ticket, Turned),
    /// The agent's own code holds so many guards that say it is busy.
    Busy(usize),
    /// The agent wants to go idle.
    GoIdle,
    /// The agent wants to hang up.
    Disconnect,
    /// Time passed.
    Tick,
}

impl Input {
    /// Whether it is work, or a sign that work comes. What only shows that the desk is there is
    /// none, or an agent with a lively line would never sleep; nor is what we do not understand.
    const fn is_work(&self) -> bool {
        match self {
            Self::Asked(..) | Self::Taken(_) | Self::Handled(..) | Self::Busy(_) => true,
            Self::Heard(frame) => match frame {
                ToGateway::Descriptor(_)
                | ToGateway::Inbound { .. }
                | ToGateway::PassthroughForward { .. }
                | ToGateway::OutboundResult { .. }
                | ToGateway::InterruptInbound { .. } => true,
                ToGateway::GoingIdleAck | ToGateway::Unknown { .. } | ToGateway::Malformed(_) => {
                    false
                }
            },
            Self::Dialled
            | Self::DialFailed(_)
            | Self::Alive
            | Self::Ended(_)
            | Self::GoIdle
            | Self::Disconnect
            | Self::Tick => false,
        }
    }
}

/// How a line ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ended {
    /// Its close code.
    pub(crate) code: u16,
    /// Its reason, as the desk wrote it.
    pub(crate) reason: String,
}

/// How a turn ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turned {
    /// The entry was handled.
    Well,
    /// It was not: the turn failed or panicked.
    Badly,
}

/// An entry whose turn has come.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Given {
    pub(crate) ticket: Ticket,
    pub(crate) session: SessionKey,
    pub(crate) content: Content,
}

/// What an entry says.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Content {
    /// Something a person wrote.
    Message(Box<Inbound>),
    /// A platform's own request.
    Forward(Box<Forward>),
}

impl Content {
    /// By which name the agent knows the conversation. Requests of a platform name no chat, so
    /// those of one bot are one conversation.
    fn session(&self) -> Option<SessionKey> {
        match self {
            Self::Message(inbound) => {
                let source = &inbound.source;
                let key = newest(&KeySource::from(source), &Sharing::default()).ok();
                key.or_else(|| {
                    SessionKey::new(format!("chat:{}:{}", source.platform, source.chat_id))
                })
            }
            Self::Forward(forward) => {
                SessionKey::new(format!("forward:{}:{}", forward.platform, forward.bot_handle))
            }
        }
    }
}

/// What to do.
#[derive(Debug, PartialEq)]
pub(crate) enum Effect {
    /// Dial, with a fresh token.
    Dial,
    /// Say this.
    Say(Frame),
    /// Ping.
    Ping,
    /// Begin a turn.
    Handle(Box<Given>),
    /// Tell a turn to stop.
    Stop(Ticket),
    /// Tell who asked what came of it.
    Answer(AskId, Answer),
    /// Close the line, or give up the dial under way.
    Close(Close),
    /// Every hello is answered.
    Greeted(Vec<Descriptor>),
    /// Show how it stands.
    Show(Status),
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod property;
#[cfg(test)]
mod both_sides;
