//! Session: the conversation on a line, as a value.
//!
//! It gets the time and what happened, and answers with what to do; it never waits. The
//! driver owns the socket, the timer and the store, and obeys.
//!
//! # Promise
//!
//! Every entry it was given is acknowledged, parked, given back to the inbox, or still held.
//! It never holds more than its window.

mod boot;
mod live;
mod state;
mod window;

use std::time::Duration;

use nightdesk_inbox::{AckRange, ParkReason, Waiting};
use nightdesk_protocol::close::Close;
use nightdesk_protocol::descriptor::Descriptor;
use nightdesk_protocol::frame::{Interrupt, Outbound};
use nightdesk_protocol::hello::Hello;
use nightdesk_protocol::outcome::Outcome;
use nightdesk_protocol::session_key::SessionKey;
use nightdesk_protocol::{Frame, FromGateway};
use nightdesk_types::{AgentId, ClientRules, Moment, RequestId, Seq, Timestamp};

use crate::store::{End, Taken};

pub use state::Session;

/// The time, on both clocks a session needs.
#[derive(Clone, Copy, Debug)]
pub struct Now {
    /// For every timeout.
    pub moment: Moment,
    /// For what is written down.
    pub wall: Timestamp,
}

/// What a session must know of its client before it begins.
#[derive(Clone, Copy, Debug)]
pub struct Client {
    /// The agent it speaks for.
    pub agent: AgentId,
    /// Whether it acks at all.
    pub acks: bool,
}

/// What happened.
#[derive(Debug)]
pub enum Input {
    /// The gateway said something.
    Heard(FromGateway),
    /// The gateway answered a ping.
    Pong,
    /// The gateway pinged us.
    Pinged,
    /// A hello was looked up.
    Greeted(Box<Greeted>),
    /// The line is the agent's newest.
    Taken(Taken),
    /// The inbox may have something new, perhaps up to this number.
    Rung(Option<Seq>),
    /// What was read.
    Read(Waiting),
    /// Reading failed; later it may not.
    ReadFailed,
    /// The agent could not be had called; later it may.
    SuspectFailed,
    /// A send was done, or not.
    Sent(RequestId, Box<Outcome>),
    /// A turn is to be stopped.
    Stop {
        /// The session, by the name its gateway gave it.
        session_key: SessionKey,
        /// The chat it is held in.
        chat_id: String,
    },
    /// A newer line took over.
    Replaced,
    /// The gateway was revoked.
    Revoked,
    /// The store could not say whether the client is welcome.
    StoreLost,
    /// This node stops.
    Drain,
    /// The socket ended, or cannot be used any more.
    Ended {
        /// The code it ended with.
        code: u16,
    },
    /// The client does what no client should.
    Misbehaved(Close),
    /// Time passed.
    Tick,
}

/// A hello that was looked up.
#[derive(Debug)]
pub struct Greeted {
    /// What the platform can do.
    pub descriptor: Descriptor,
}

/// What to do.
#[derive(Debug, PartialEq)]
pub enum Effect {
    /// Look a hello up.
    Greet(Box<Hello>),
    /// Make the line the agent's newest.
    Take,
    /// Say this.
    Say(Frame),
    /// Ping.
    Ping,
    /// Read what comes after this number.
    Read {
        /// What was read before.
        after: Seq,
        /// Nothing unread is older than this.
        since: Timestamp,
        /// How many entries fit.
        entries_max: usize,
        /// Up to here the table alone is asked.
        taken_at: Seq,
    },
    /// These are acknowledged.
    Ack(AckRange),
    /// Set this one aside.
    Park(Seq, ParkReason),
    /// Do this on a platform.
    Send(Box<Outbound>),
    /// Stop this turn, wherever it runs.
    Stop(Interrupt),
    /// Have the agent called: something waits for it, and nobody answers here.
    Suspect,
    /// Note by which rules the agent's client is served from now on.
    FollowRules(ClientRules),
    /// Close the socket.
    Close(Close),
    /// Note how the line ended. Nothing comes after it.
    End(End),
}

/// The earlier of two moments that may never come.
pub(crate) fn sooner(one: Option<Moment>, other: Option<Moment>) -> Option<Moment> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

/// A line that goes idle gets nothing more for this long; by then its client is gone.
const IDLE_REST: Duration = Duration::from_secs(10);

/// A read that failed is tried again after this.
const READ_AGAIN: Duration = Duration::from_secs(1);

/// So is a suspicion that could not be written down.
const SUSPECT_AGAIN: Duration = Duration::from_secs(3);

#[cfg(test)]
mod tests;
#[cfg(test)]
mod property;
