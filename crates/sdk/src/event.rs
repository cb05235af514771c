//! Event: what a turn is about.

use nightdesk_protocol::event::Inbound;
use nightdesk_protocol::passthrough::Forward;
use nightdesk_protocol::session_key::SessionKey;
use nightdesk_types::send::Op;
use tokio_util::sync::CancellationToken;

use crate::desk::{Desk, Sent};
use crate::place::Place;
use crate::send_error::SendError;
use crate::session::{Content, Given, Ticket};

/// What the desk hands over. Each has a turn of its own.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event {
    /// Something a person wrote, or a thing that reads like it.
    Message(Message),
    /// A platform's own request, verified by the desk and without its credentials.
    Forwarded(Forwarded),
}

/// Something a person wrote.
#[derive(Debug)]
pub struct Message {
    /// The message and where it comes from.
    pub content: Box<Inbound>,
    /// The turn it has.
    pub turn: Turn,
}

/// A platform's own request, such as the press of a button.
#[derive(Debug)]
pub struct Forwarded {
    /// The request.
    pub content: Box<Forward>,
    /// The turn it has.
    pub turn: Turn,
}

/// The turn of one entry.
#[derive(Debug)]
pub struct Turn {
    ticket: Ticket,
    session: SessionKey,
    desk: Desk,
    stop: CancellationToken,
}

impl Event {
    pub(crate) fn new(given: Given, desk: Desk, stop: CancellationToken) -> Self {
        let Given { ticket, session, content } = given;
        let turn = Turn { ticket, session, desk, stop };
        match content {
            Content::Message(content) => Self::Message(Message { content, turn }),
            Content::Forward(content) => Self::Forwarded(Forwarded { content, turn }),
        }
    }
}

impl Message {
    /// Its text.
    pub fn text(&self) -> &str {
        &self.content.message.text
    }

    /// Where it comes from, and where an answer goes.
    pub fn place(&self) -> Place {
        Place::of(&self.content.source)
    }

    /// Answers it, where it was written.
    pub async fn reply(&self, text: impl Into<String>) -> Result<Sent, SendError> {
        let reply_to = self.content.message.message_id.clone();
        let op = Op::Send { content: text.into(), reply_to };
        self.turn.desk.send_outbound(&self.place(), op).await
    }
}

impl Turn {
    /// By which name the agent knows the conversation.
    pub const fn session_key(&self) -> &SessionKey {
        &self.session
    }

    /// The desk, for sending more than a reply.
    pub const fn desk(&self) -> &Desk {
        &self.desk
    }

    /// Tells the desk that the agent has the entry now, before the turn ends. For turns that
    /// take longer than half a minute: a desk that hears nothing for 45 seconds counts a try.
    ///
    /// From here on the entry is the agent's to lose: it never comes again, also if the turn
    /// fails or the process dies.
    pub async fn ack(&self) {
        self.desk.taken(self.ticket).await;
    }

    /// Waits until somebody wants this very turn stopped. What the turn does then is its own
    /// decision; to stop is to return.
    pub async fn stopped(&self) {
        self.stop.cancelled().await;
    }

    /// Whether somebody wants this turn stopped.
    pub fn is_stopped(&self) -> bool {
        self.stop.is_cancelled()
    }
}
