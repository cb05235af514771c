//! The agent's side of the conversation over all its lines, as a value.
//!
//! The session takes the time and an input, and returns effects; it never waits. The driver owns the socket, the timer
//! and the turns, and executes the effects.
//!
//! # Promise
//!
//! An entry is acked after its turn succeeded or acked it, never before, and only on a line that delivered it. No entry
//! has two turns, except one whose turn failed. Entries of one session have their turns in order, one at a time. A send
//! is written at most once, and its caller always gets an answer.
//!
//! A session falls asleep only without work in hand, and announces it before it hangs up. An entry that arrives
//! meanwhile prevents the sleep, or stays unacked and is delivered again.

mod state;
mod line;
mod backoff;
mod entries;
mod handled_entries;
mod sends;
mod idle_timer;

use nightdesk_protocol::action::Action;
use nightdesk_protocol::close::Close;
use nightdesk_protocol::descriptor::Descriptor;
use nightdesk_protocol::event::Inbound;
use nightdesk_protocol::frame::Interrupt;
use nightdesk_protocol::outcome::Outcome;
use nightdesk_protocol::passthrough::Forward;
use nightdesk_protocol::session_key::{KeySource, SessionKey, Sharing, newest_key};
use nightdesk_protocol::session_names::SessionNames;
use nightdesk_protocol::{Frame, ToGateway, TooLong};
use nightdesk_types::RequestId;

use crate::status::{Status, Trouble};

pub(crate) use state::AgentSession;

/// Random values from outside, so that a session stays a value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seed {
    /// Distinguishes this process's requests from those of every other.
    pub(crate) requests: [u8; 16],
    /// Spreads the dials.
    pub(crate) dials: u64,
}

/// One turn: an entry in progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Ticket(u64);

/// The caller of a send.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct CallId(pub(crate) u64);

/// A request of the agent to the desk.
#[derive(Clone, Debug)]
pub(crate) enum DeskRequest {
    /// An action on a platform.
    Outbound(Box<RoutedAction>),
    /// The stop of a turn, on any line.
    Interrupt(Interrupt),
}

/// An action with the agent's routing data.
#[derive(Clone, Debug)]
pub(crate) struct RoutedAction {
    /// An id of the caller, under which a repetition is the same request.
    pub(crate) request_id: Option<RequestId>,
    pub(crate) action: Action,
    pub(crate) platform: Option<String>,
    pub(crate) bot_handle: Option<String>,
}

/// The result of a request. A sent interrupt has no outcome.
pub(crate) type RequestResult = Result<Option<Box<Outcome>>, RequestFailure>;

/// The reason that a request has no outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RequestFailure {
    /// The request was written, and its result is unknown.
    Unknown,
    /// The request was not written: there was no line.
    NoLine,
    /// The request was not written: too many others were in progress.
    Busy,
    /// The request was not written: it does not fit into a frame.
    TooLong(TooLong),
    /// The request was not written: the session is over.
    Over,
}

/// An input.
#[derive(Debug)]
pub(crate) enum Input {
    /// A line is open.
    Dialled,
    /// A dial failed.
    DialFailed(Trouble),
    /// A frame arrived from the desk.
    Heard(ToGateway),
    /// The desk pinged, or answered a ping.
    Alive,
    /// The line ended.
    Ended(SocketClose),
    /// The agent sends a request.
    Asked(CallId, DeskRequest),
    /// A turn acks its entry.
    Taken(Ticket),
    /// A turn ended.
    Handled(Ticket, TurnResult),
    /// The number of busy guards that the agent's code holds.
    Busy(usize),
    /// The agent names its live sessions.
    Sessions(SessionNames),
    /// The agent goes idle.
    GoIdle,
    /// The agent hangs up.
    Disconnect,
    /// Time passed.
    Tick,
}

impl Input {
    /// Returns true if the input is work, or a sign that work comes. Signs of life and unknown frames are not work, or
    /// an agent with a lively line would never sleep.
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
            | Self::Sessions(_)
            | Self::GoIdle
            | Self::Disconnect
            | Self::Tick => false,
        }
    }
}

/// The end of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SocketClose {
    /// Its close code.
    pub(crate) code: u16,
    /// Its reason, as the desk wrote it.
    pub(crate) reason: String,
}

/// The end of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TurnResult {
    /// The entry was handled.
    Well,
    /// The turn failed or panicked.
    Badly,
}

/// An entry whose turn begins.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TurnStart {
    pub(crate) ticket: Ticket,
    pub(crate) session: SessionKey,
    /// The entry's id over all its deliveries.
    pub(crate) entry_id: Option<String>,
    pub(crate) content: Content,
}

/// The content of an entry.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Content {
    /// A message of a person.
    Message(Box<Inbound>),
    /// A platform's own request.
    Forward(Box<Forward>),
}

impl Content {
    /// Returns the key of the conversation. Requests of a platform name no chat, so those of one bot are one
    /// conversation.
    fn session(&self) -> Option<SessionKey> {
        match self {
            Self::Message(inbound) => {
                let source = &inbound.source;
                let key = newest_key(&KeySource::from(source), &Sharing::default()).ok();
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

/// An effect for the driver.
#[derive(Debug, PartialEq)]
pub(crate) enum SessionEffect {
    /// Dial, with a new token.
    Dial,
    /// Write this frame.
    Say(Frame),
    /// Ping.
    Ping,
    /// Begin a turn.
    Handle(Box<TurnStart>),
    /// Stop a turn.
    Stop(Ticket),
    /// Answer a request.
    Answer(CallId, RequestResult),
    /// Close the line, or abort the current dial.
    Close(Close),
    /// Every hello is answered.
    Greeted(Vec<Descriptor>),
    /// Publish the status.
    Show(Status),
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod property;
#[cfg(test)]
mod both_sides;
