//! The protocol of a line, as a value.
//!
//! A session takes the time and an input, and returns effects; it never waits. The driver owns the socket, the timer
//! and the store, and executes the effects.
//!
//! # Promise
//!
//! Every entry that it was given is acknowledged, parked, returned to the inbox, or still held. It never holds more
//! than its window.

mod boot;
mod live;
mod state;
mod timers;
mod window;

use std::time::Duration;

use nightdesk_inbox::{AckRange, ParkReason, ReadResponse};
use nightdesk_protocol::close::Close;
use nightdesk_protocol::descriptor::Descriptor;
use nightdesk_protocol::frame::{Interrupt, Outbound};
use nightdesk_protocol::hello::Hello;
use nightdesk_protocol::outcome::Outcome;
use nightdesk_protocol::session_key::SessionKey;
use nightdesk_protocol::session_names::SessionNames;
use nightdesk_protocol::{Frame, FromGateway};
use nightdesk_types::{
    AgentId, ClientRules, EntryId, Moment, RequestId, Seq, Timestamp, Transport,
};

use crate::store::{CloseRecord, LineStart};

pub use state::LineSession;

/// The time on both clocks that a session needs.
#[derive(Clone, Copy, Debug)]
pub struct SessionTime {
    /// The clock of all timeouts.
    pub moment: Moment,
    /// The clock of recorded times.
    pub wall: Timestamp,
}

/// The properties of a client that a session needs at its start.
#[derive(Clone, Copy, Debug)]
pub struct LineClient {
    /// The client's agent.
    pub agent: AgentId,
    /// True if the client sends acks.
    pub acks: bool,
    /// The transport of its frames.
    pub transport: Transport,
}

/// An event for the session.
#[derive(Debug)]
pub enum LineInput {
    /// The gateway sent a frame.
    Heard(FromGateway),
    /// The gateway answered a ping.
    Pong,
    /// The gateway sent a ping.
    Pinged,
    /// A hello was looked up.
    Greeted(Box<HelloLookup>),
    /// The line became the agent's newest.
    Taken(LineStart),
    /// The inbox may have new entries, perhaps up to this number.
    Rung(Option<Seq>),
    /// The result of a read.
    Read(ReadResponse),
    /// The read failed; a later one may succeed.
    ReadFailed,
    /// The request to call the agent failed; a later one may succeed.
    SuspectFailed,
    /// The result of a send.
    Sent(RequestId, Box<Outcome>),
    /// A turn must stop.
    Stop {
        /// The session's key as its gateway named it.
        session_key: SessionKey,
        /// The chat of the session.
        chat_id: String,
    },
    /// A newer line took over.
    Replaced,
    /// The store was restored or rolled back. The numbers that the line knows mean other entries now.
    HistoryChanged,
    /// The gateway was revoked.
    Revoked,
    /// The store could not verify the client.
    StoreLost,
    /// This node stops.
    Drain,
    /// These entries reached the client and it did not handle them, and the transport delivers nothing more.
    Undelivered(Vec<EntryId>),
    /// The socket ended or is unusable.
    Ended {
        /// The close code.
        code: u16,
    },
    /// The client violates the protocol.
    Misbehaved(Close),
    /// A deadline passed.
    Tick,
}

/// The result of looking up a hello.
#[derive(Debug)]
pub struct HelloLookup {
    /// The capabilities of the platform.
    pub descriptor: Descriptor,
}

/// An effect that the driver executes.
#[derive(Debug, PartialEq)]
pub enum LineEffect {
    /// Look up a hello.
    Greet(Box<Hello>),
    /// Make the line the agent's newest, and save the rules for serving its client, if the first hello shows them.
    Take(Option<ClientRules>),
    /// Send this frame.
    Say(Frame),
    /// Ping.
    Ping,
    /// Read the entries after this number.
    Read {
        /// The last number that was read.
        after: Seq,
        /// A lower bound on the time of all unread entries.
        since: Timestamp,
        /// The number of entries that fit.
        entries_max: usize,
        /// The number up to which only the table is read.
        taken_at: Seq,
    },
    /// Record these acks.
    Ack(AckRange),
    /// Park this entry.
    Park(Seq, ParkReason),
    /// Perform this action on a platform.
    Send(Box<Outbound>),
    /// Stop this turn on any node.
    Stop(Interrupt),
    /// Request a call of the agent: an entry waits for it, and the line does not answer.
    Suspect,
    /// Save the rules for serving the agent's client from now on.
    FollowRules(ClientRules),
    /// Store the live sessions of the agent, until the line ends.
    TellSessions(SessionNames),
    /// Close the socket.
    Close(Close),
    /// Record the end of the line. It is the last effect.
    End(CloseRecord),
}

/// Returns the earlier of two optional moments.
pub(crate) fn sooner(one: Option<Moment>, other: Option<Moment>) -> Option<Moment> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

/// Time that a line which goes idle gets no entries; after it, its client is gone.
const IDLE_REST: Duration = Duration::from_secs(10);

/// Retry delay of a failed read.
const READ_AGAIN: Duration = Duration::from_secs(1);

/// Retry delay of a failed [`LineEffect::Suspect`].
const SUSPECT_AGAIN: Duration = Duration::from_secs(3);

#[cfg(test)]
mod tests;
#[cfg(test)]
mod property;
