//! The desk as an agent uses it.

use std::sync::Arc;

use nightdesk_protocol::action::{Action, FollowUp};
use nightdesk_protocol::frame::Interrupt;
use nightdesk_protocol::outcome::{ChatSummary, EGRESS_DECLINED, Outcome};
use nightdesk_protocol::session_key::SessionKey;
use nightdesk_protocol::session_names::{BadSessionNames, SessionNames};
use nightdesk_types::send::Op;
use nightdesk_types::{RequestId, Send};
use tokio::sync::{mpsc, oneshot, watch};

use crate::busy::Busy;
use crate::place::Place;
use crate::send_error::SendError;
use crate::session::{DeskRequest, RequestResult, RoutedAction, Ticket};
use crate::settings::BotIdentity;

/// The desk, for sending. Cheap to clone; works from any task, across every line of the agent, until the agent is over.
///
/// Sends to one chat are made in the order of the calls. Dropping the future of a send does not cancel it.
#[derive(Clone, Debug)]
pub struct Desk {
    commands: mpsc::Sender<DriverCommand>,
    bots: Arc<[BotIdentity]>,
    busy: watch::Sender<usize>,
}

/// The result of a successful send.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SendReceipt {
    /// The platform's id of the created object, if it has one.
    pub message_id: Option<String>,
    /// The thread of the message, if the platform returned it.
    pub thread_id: Option<String>,
}

/// A command of an agent or a turn.
#[derive(Debug)]
pub(crate) enum DriverCommand {
    /// Send a request to the desk.
    Ask(DeskRequest, oneshot::Sender<RequestResult>),
    /// Ack an entry.
    Taken(Ticket),
    /// Name the live sessions.
    Sessions(SessionNames),
    /// Go to sleep.
    GoIdle,
    /// Hang up.
    Disconnect,
}

impl Desk {
    pub(crate) fn new(commands: mpsc::Sender<DriverCommand>, bots: Vec<BotIdentity>) -> Self {
        Self { commands, bots: bots.into(), busy: watch::Sender::new(0) }
    }

    /// Prevents the agent from sleeping while the returned guard is held, for work of its own. Turns and sends need no
    /// guard.
    pub fn busy(&self) -> Busy {
        Busy::new(self.busy.clone())
    }

    /// Returns the number of held guards.
    pub(crate) fn busy_count(&self) -> watch::Receiver<usize> {
        self.busy.subscribe()
    }

    /// Sends a message.
    pub async fn send(
        &self,
        place: &Place,
        text: impl Into<String>,
    ) -> Result<SendReceipt, SendError> {
        self.send_outbound(place, Op::Send { content: text.into(), reply_to: None }).await
    }

    /// Edits a message.
    pub async fn edit(
        &self,
        place: &Place,
        message_id: impl Into<String>,
        text: impl Into<String>,
    ) -> Result<SendReceipt, SendError> {
        let op = Op::Edit { message_id: message_id.into(), content: text.into() };
        self.send_outbound(place, op).await
    }

    /// Shows that the agent is at work.
    pub async fn typing(&self, place: &Place) -> Result<(), SendError> {
        self.send_outbound(place, Op::Typing { content: None }).await.map(drop)
    }

    /// Performs any operation in a chat. The platform's descriptor lists the supported operations.
    pub async fn send_outbound(&self, place: &Place, op: Op) -> Result<SendReceipt, SendError> {
        receipt_from(&self.ask_outbound(place, op).await?)
    }

    /// Performs an operation under an id of the caller. The desk executes an id once within a day, so after
    /// [`SendError::Unknown`] the same call may be repeated, also by another process of the agent. The error is that one,
    /// too, if the desk could not record the request: an earlier one with this id may have been executed.
    pub async fn send_outbound_once(
        &self,
        id: RequestId,
        place: &Place,
        op: Op,
    ) -> Result<SendReceipt, SendError> {
        let outcome = self.outbound(self.routed(Some(id), place, op)).await?;
        if outcome.is_unrecorded() { Err(SendError::Unknown) } else { receipt_from(&outcome) }
    }

    /// Returns the name and the kind of a chat.
    pub async fn get_chat_info(&self, place: &Place) -> Result<ChatSummary, SendError> {
        let outcome = self.ask_outbound(place, Op::GetChatInfo).await?;
        let unnamed = || ChatSummary { name: place.chat_id.clone(), kind: "dm".to_owned() };
        let chat = outcome.chat_summary().cloned().unwrap_or_else(unnamed);
        receipt_from(&outcome).map(|_| chat)
    }

    /// Acts with a capability that the desk stores for a session, such as the token of an interaction. The agent names
    /// the session and never sees the token.
    pub async fn send_follow_up(&self, follow_up: FollowUp) -> Result<SendReceipt, SendError> {
        let platform = follow_up.platform().map(str::to_owned);
        let bot_handle = self.bot_of(platform.as_deref());
        let action = Action::FollowUp(follow_up);
        let routed = RoutedAction { request_id: None, action, platform, bot_handle };
        receipt_from(&self.outbound(routed).await?)
    }

    /// Stops the turn of a session of this agent, on any of its lines. The result only confirms that the request was
    /// sent, not that a turn was running.
    pub async fn send_interrupt(
        &self,
        session_key: SessionKey,
        reason: Option<String>,
    ) -> Result<(), SendError> {
        self.ask(DeskRequest::Interrupt(Interrupt { session_key, reason })).await.map(drop)
    }

    /// Names the live sessions of the agent, in place of those that it named before. Letters address them as
    /// `agent@session`, and such a letter has the session in its `session_id`. The SDK names them again on every new line.
    ///
    /// # Errors
    ///
    /// There are too many sessions, or a name is unusable.
    pub async fn name_sessions(
        &self,
        sessions: impl IntoIterator<Item = String>,
    ) -> Result<(), BadSessionNames> {
        let sessions = SessionNames::check(sessions.into_iter().collect())?;
        // Without a driver the agent is over, and has no session.
        drop(self.commands.send(DriverCommand::Sessions(sessions)).await);
        Ok(())
    }

    /// Acks a turn's entry.
    pub(crate) async fn ack_turn(&self, ticket: Ticket) {
        // Without a driver there is no line, and the entry is delivered again.
        drop(self.commands.send(DriverCommand::Taken(ticket)).await);
    }

    async fn ask_outbound(&self, place: &Place, op: Op) -> Result<Outcome, SendError> {
        self.outbound(self.routed(None, place, op)).await
    }

    /// Returns an action in a place, by the bot that the place names or the one of its platform.
    fn routed(&self, request_id: Option<RequestId>, place: &Place, op: Op) -> RoutedAction {
        let Place { platform, chat_id, bot, metadata } = place.clone();
        let bot_handle = bot.or_else(|| self.bot_of(platform.as_deref()));
        let action = Action::Send(Send { chat_id, op, metadata });
        RoutedAction { request_id, action, platform, bot_handle }
    }

    async fn outbound(&self, tagged: RoutedAction) -> Result<Outcome, SendError> {
        let outcome = self.ask(DeskRequest::Outbound(Box::new(tagged))).await?;
        outcome.ok_or(SendError::Unknown)
    }

    async fn ask(&self, wish: DeskRequest) -> Result<Option<Outcome>, SendError> {
        let (answer, answered) = oneshot::channel::<RequestResult>();
        let asked = self.commands.send(DriverCommand::Ask(wish, answer)).await;
        asked.map_err(|_| SendError::Over)?;
        // A driver that ended dropped its pending requests.
        let answered = answered.await.map_err(|_| SendError::Unknown)?;
        Ok(answered?.map(|outcome| *outcome))
    }

    fn bot_of(&self, platform: Option<&str>) -> Option<String> {
        let platform = platform?;
        let named = |known: &&BotIdentity| known.platform == platform && !known.bot.is_empty();
        self.bots.iter().find(named).map(|known| known.bot.clone())
    }
}

fn receipt_from(outcome: &Outcome) -> Result<SendReceipt, SendError> {
    if outcome.is_success() {
        let owned = |id: Option<&str>| id.map(str::to_owned);
        let (message_id, thread_id) = (outcome.message_id(), outcome.thread_id());
        return Ok(SendReceipt { message_id: owned(message_id), thread_id: owned(thread_id) });
    }
    if outcome.is_ambiguous() {
        return Err(SendError::Unknown);
    }
    let why = outcome.error().unwrap_or("no reason given").to_owned();
    Err(if outcome.code() == Some(EGRESS_DECLINED) {
        SendError::Refused(why)
    } else {
        SendError::Failed(why)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outcome_says_whether_it_may_be_asked_again() {
        let cases = [
            ("done", Outcome::delivered(None), None),
            ("nobody knows", Outcome::ambiguous(), Some(SendError::Unknown)),
            (
                "not allowed",
                Outcome::refused("discord", "no"),
                Some(SendError::Refused("discord egress declined: no".to_owned())),
            ),
            ("not done", Outcome::failed("full"), Some(SendError::Failed("full".to_owned()))),
        ];
        for (name, outcome, want) in cases {
            assert_eq!(receipt_from(&outcome).err(), want, "{name}");
        }
    }
}
