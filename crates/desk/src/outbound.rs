//! The way out, from an agent's request to its platform's response.

use std::sync::Arc;

use nightdesk_egress::{Egress, FleetingAction, SendKey, SendTurn};
use nightdesk_gate::{AdmitError, AdmittedSend, BotTag, Gate, Sender};
use nightdesk_letters::{Letters, Party, is_letter_chat};
use nightdesk_line::AuthenticatedGateway;
use nightdesk_protocol::action::Action;
use nightdesk_protocol::frame::Outbound as OutboundFrame;
use nightdesk_protocol::outcome::Outcome;
use nightdesk_types::AgentId;

use crate::capabilities::FollowUps;
use crate::send_outcome::{send_outcome, unstored_outcome};
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
        let AuthenticatedGateway { scope, agent, .. } = caller;
        let key = SendKey { scope, agent, request: outbound.request_id.clone() };
        match self.execute(caller, greeted, outbound, turn).await {
            Ok(outcome) => outcome,
            Err(refused) => self.recorded_or(&key, refused).await,
        }
    }

    /// Executes a request. The error is the outcome of one that may not be executed now.
    async fn execute(
        &self,
        caller: AuthenticatedGateway,
        greeted: &[BotTag],
        outbound: OutboundFrame,
        turn: Option<SendTurn>,
    ) -> Result<Outcome, Outcome> {
        let OutboundFrame { request_id, action, platform, bot_handle } = outbound;
        let send = match action {
            Action::Send(send) => send,
            Action::FollowUp(follow_up) => {
                let admitted = self.follow_ups.admit(caller, greeted, request_id, follow_up);
                let admitted = admitted.await?;
                let turn = wait_for_turn(admitted.turn).await;
                return Ok(self.deliver(&admitted.send, turn).await);
            }
            Action::Unknown { op } => return Ok(Outcome::unknown_op(&op)),
            Action::Malformed { op, missing } => {
                return Ok(Outcome::failed(format!("{op} has no usable {missing}")));
            }
        };
        if timekeeping::is_job_chat(&send.chat_id) {
            return Ok(Outcome::delivered(None));
        }
        if is_letter_chat(&send.chat_id) {
            let by = Party { scope: caller.scope, agent: caller.agent };
            return Ok(self.letters.store_reply(by, &send).await);
        }
        let named = platform.clone().unwrap_or_else(|| "relay".to_owned());
        let tag = BotTag { platform, handle: bot_handle };
        let AuthenticatedGateway { scope, agent, .. } = caller;
        let sender = Sender { scope, agent, hellos: greeted, tag: &tag, through: None };
        let admitted = match self.gate.admit_send(sender, request_id, send).await {
            Ok(admitted) => admitted,
            Err(AdmitError::Refused(why)) => {
                return Err(Outcome::refused(&named, &why.to_string()));
            }
            Err(AdmitError::Store(error)) => return Err(unstored_outcome(&error)),
        };
        if let Some(fleeting) = FleetingAction::from_send(&admitted) {
            return Ok(send_outcome(self.egress.show(&fleeting).await));
        }
        Ok(self.deliver(&admitted, turn).await)
    }

    /// Returns the result of an earlier request with the same id, which may have been executed, or this outcome.
    async fn recorded_or(&self, key: &SendKey, refused: Outcome) -> Outcome {
        match self.egress.find_result(key).await {
            Ok(Some(result)) => send_outcome(result),
            Ok(None) => refused,
            Err(error) => unstored_outcome(&error),
        }
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
