//! The way out, from an agent's request to its platform's response.

use std::sync::Arc;

use nightdesk_egress::{Egress, FleetingAction, SendResult, SendTurn};
use nightdesk_gate::{AdmitError, AdmittedSend, BotTag, Gate, Sender};
use nightdesk_letters::{Letters, Party, is_letter_chat};
use nightdesk_line::AuthenticatedGateway;
use nightdesk_port::Receipt;
use nightdesk_protocol::action::Action;
use nightdesk_protocol::frame::Outbound as OutboundFrame;
use nightdesk_protocol::outcome::Outcome;
use nightdesk_types::{AgentId, StoreError};

use crate::capabilities::FollowUps;
use crate::{Stops, timekeeping};

/// The way out.
#[derive(Debug)]
pub struct Outbound {
    gate: Arc<Gate>,
    egress: Arc<Egress>,
    follow_ups: FollowUps,
    letters: Arc<Letters>,
}

impl Outbound {
    pub(crate) fn new(stops: &Stops) -> Self {
        let Stops { gate, egress, letters, .. } = stops.clone();
        Self { gate, egress, follow_ups: FollowUps::new(stops), letters }
    }

    /// Returns a turn in the chat's lane, if the action needs one and the lane has room.
    pub(crate) fn enter_lane(&self, agent: AgentId, action: &Action) -> Option<SendTurn> {
        match action {
            Action::Send(send) if !send.op.is_fleeting() => {
                self.egress.lanes().enter((agent, send.chat_id.clone()))
            }
            Action::Send(_)
            | Action::FollowUp(_)
            | Action::Unknown { .. }
            | Action::Malformed { .. } => None,
        }
    }

    /// Executes an agent's request on a platform when its turn has come, and returns the outcome.
    pub(crate) async fn send(
        &self,
        caller: AuthenticatedGateway,
        greeted: &[BotTag],
        outbound: OutboundFrame,
        turn: Option<SendTurn>,
    ) -> Outcome {
        let turn = wait_for_turn(turn).await;
        let OutboundFrame { request_id, action, platform, bot_handle } = outbound;
        let send = match action {
            Action::Send(send) => send,
            Action::FollowUp(follow_up) => {
                let admitted = self.follow_ups.admit(caller, greeted, request_id, follow_up);
                return match admitted.await {
                    Ok(admitted) => {
                        self.deliver(&admitted.send, wait_for_turn(admitted.turn).await).await
                    }
                    Err(refused) => refused,
                };
            }
            Action::Unknown { op } => return Outcome::unknown_op(&op),
            Action::Malformed { op, missing } => {
                return Outcome::failed(format!("{op} has no usable {missing}"));
            }
        };
        if timekeeping::is_job_chat(&send.chat_id) {
            return Outcome::delivered(None);
        }
        if is_letter_chat(&send.chat_id) {
            let by = Party { scope: caller.scope, agent: caller.agent };
            return self.letters.store_reply(by, &send).await;
        }
        let named = platform.clone().unwrap_or_else(|| "relay".to_owned());
        let tag = BotTag { platform, handle: bot_handle };
        let AuthenticatedGateway { scope, agent, .. } = caller;
        let sender = Sender { scope, agent, hellos: greeted, tag: &tag, through: None };
        let admitted = match self.gate.admit_send(sender, request_id, send).await {
            Ok(admitted) => admitted,
            Err(AdmitError::Refused(why)) => return Outcome::refused(&named, &why.to_string()),
            Err(AdmitError::Store(error)) => return unstored_outcome(&error),
        };
        if let Some(fleeting) = FleetingAction::from_send(&admitted) {
            return send_outcome(self.egress.show(&fleeting).await);
        }
        self.deliver(&admitted, turn).await
    }

    async fn deliver(&self, admitted: &AdmittedSend, turn: Option<SendTurn>) -> Outcome {
        let settled = match turn {
            Some(turn) => self.egress.deliver(admitted, &turn).await,
            None => self.egress.settle_without_turn(admitted).await,
        };
        match settled {
            Ok(settled) => send_outcome(settled),
            Err(error) if error.over_quota().is_some() => unstored_outcome(&error),
            // The send may be stored, and then it will be executed.
            Err(_) => Outcome::ambiguous(),
        }
    }
}

async fn wait_for_turn(turn: Option<SendTurn>) -> Option<SendTurn> {
    let mut turn = turn?;
    turn.wait_for_turn().await.then_some(turn)
}

/// Returns the outcome of a send of which nothing was executed.
fn unstored_outcome(error: &StoreError) -> Outcome {
    match error.over_quota() {
        Some(over) => Outcome::failed(over.to_string()),
        // This text makes the client retry by itself.
        None => Outcome::failed("network error behind the desk"),
    }
}

fn send_outcome(settled: SendResult) -> Outcome {
    match settled {
        SendResult::Delivered(Receipt { chat: Some(chat), .. }) => {
            Outcome::chat(chat.name, chat.kind)
        }
        SendResult::Delivered(Receipt { message_id, thread_id, chat: None, is_plain }) => {
            let outcome = Outcome::delivered(message_id);
            let outcome = if is_plain { outcome.with_plain_note() } else { outcome };
            match thread_id {
                Some(thread) => outcome.with_thread(thread, None),
                None => outcome,
            }
        }
        // A reply or an edit refers to the first part.
        SendResult::InParts(parts) if parts.is_whole() => {
            send_outcome(SendResult::Delivered(parts.said.into_iter().next().unwrap_or_default()))
        }
        SendResult::InParts(parts) => Outcome::partial(parts.said.len(), parts.of),
        SendResult::Failed(why) => Outcome::failed(why),
        SendResult::Ambiguous => Outcome::ambiguous(),
    }
}
