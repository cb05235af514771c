//! The event of a turn.

use nightdesk_protocol::event::Inbound;
use nightdesk_protocol::passthrough::Forward;
use nightdesk_protocol::session_key::SessionKey;
use nightdesk_types::RequestId;
use nightdesk_types::send::Op;
use tokio_util::sync::CancellationToken;

use crate::desk::{Desk, SendReceipt};
use crate::place::Place;
use crate::send_error::SendError;
use crate::session::{Content, Ticket, TurnStart};

/// An event from the desk. Each has its own turn.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event {
    /// A message of a person, or an event in the form of one.
    Message(Message),
    /// A platform's own request, verified by the desk and without its credentials.
    Forwarded(ForwardedRequest),
}

/// A message of a person.
#[derive(Debug)]
pub struct Message {
    /// The message and its source.
    pub content: Box<Inbound>,
    /// Its turn.
    pub turn: Turn,
}

/// A platform's own request, such as the press of a button.
#[derive(Debug)]
pub struct ForwardedRequest {
    /// The request.
    pub content: Box<Forward>,
    /// Its turn.
    pub turn: Turn,
}

/// The turn of one entry.
#[derive(Debug)]
pub struct Turn {
    ticket: Ticket,
    session: SessionKey,
    entry_id: Option<String>,
    desk: Desk,
    stop: CancellationToken,
}

impl Event {
    pub(crate) fn new(given: TurnStart, desk: Desk, stop: CancellationToken) -> Self {
        let TurnStart { ticket, session, entry_id, content } = given;
        let turn = Turn { ticket, session, entry_id, desk, stop };
        match content {
            Content::Message(content) => Self::Message(Message { content, turn }),
            Content::Forward(content) => Self::Forwarded(ForwardedRequest { content, turn }),
        }
    }
}

impl Message {
    /// Returns the text.
    pub fn text(&self) -> &str {
        &self.content.message.text
    }

    /// Returns the place that the message came from, which is also the place of a reply.
    pub fn place(&self) -> Place {
        let place = Place::from_source(&self.content.source);
        Place { bot: self.content.bot_handle.clone(), ..place }
    }

    /// Replies where the message was written.
    pub async fn reply(&self, text: impl Into<String>) -> Result<SendReceipt, SendError> {
        let reply_to = self.content.message.message_id.clone();
        let op = Op::Send { content: text.into(), reply_to };
        self.turn.desk.send_outbound(&self.place(), op).await
    }
}

impl Message {
    /// Replies as [`Message::reply`], under an id made of the entry's. After [`SendError::Unknown`] or
    /// [`SendError::NoLine`] call it again: the desk sends the reply once, also if the entry comes again to another
    /// process of the agent. For turns with a single reply.
    pub async fn reply_once(&self, text: impl Into<String>) -> Result<SendReceipt, SendError> {
        let Some(id) = self.turn.entry_id().and_then(|id| RequestId::new(format!("reply-{id}")))
        else {
            return self.reply(text).await;
        };
        let reply_to = self.content.message.message_id.clone();
        let op = Op::Send { content: text.into(), reply_to };
        self.turn.desk.send_outbound_once(id, &self.place(), op).await
    }
}

impl Turn {
    /// Returns the entry's id, which is the same over all its deliveries. An entry without one needs no ack.
    pub fn entry_id(&self) -> Option<&str> {
        self.entry_id.as_deref()
    }

    /// Returns the key of the conversation.
    pub const fn session_key(&self) -> &SessionKey {
        &self.session
    }

    /// Returns the desk, for sends other than a reply.
    pub const fn desk(&self) -> &Desk {
        &self.desk
    }

    /// Acks the entry before the turn ends. For turns that take longer than half a minute: a desk without an ack for 45
    /// seconds counts an attempt.
    ///
    /// From here on the agent is responsible for the entry: it is not delivered again, even if the turn fails or the
    /// process dies.
    pub async fn ack(&self) {
        self.desk.ack_turn(self.ticket).await;
    }

    /// Waits until this turn is to be stopped. The turn decides what to do then; to stop is to return.
    pub async fn stopped(&self) {
        self.stop.cancelled().await;
    }

    /// Returns true if this turn is to be stopped.
    pub fn is_stopped(&self) -> bool {
        self.stop.is_cancelled()
    }
}
