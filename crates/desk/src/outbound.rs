//! The way out, from an agent's request to its platform's response.

use nightdesk_egress::{Fleeting, SendTurn, Settled};
use nightdesk_gate::{AdmitError, AdmittedSend, Sender, Tag};
use nightdesk_letters::{Party, is_letter_chat};
use nightdesk_line::Caller;
use nightdesk_port::Receipt;
use nightdesk_protocol::action::Action;
use nightdesk_protocol::frame::Outbound;
use nightdesk_protocol::outcome::Outcome;

use crate::{Desk, capabilities, timekeeping};

/// Executes an agent's request on a platform when its turn has come, and returns the outcome.
pub async fn send(
    desk: &Desk,
    caller: Caller,
    greeted: &[Tag],
    outbound: Outbound,
    turn: Option<SendTurn>,
) -> Outcome {
    let turn = in_time(turn).await;
    let Outbound { request_id, action, platform, bot_handle } = outbound;
    let send = match action {
        Action::Send(send) => send,
        Action::FollowUp(follow_up) => {
            let ready = capabilities::follow_up(desk, caller, greeted, request_id, follow_up);
            return match ready.await {
                Ok((admitted, turn)) => deliver(desk, &admitted, in_time(turn).await).await,
                Err(refused) => refused,
            };
        }
        Action::Unknown { op } => return Outcome::unknown_op(&op),
        Action::Malformed { op, missing } => {
            return Outcome::failed(format!("{op} has no usable {missing}"));
        }
    };
    if timekeeping::is_ours(&send.chat_id) {
        return Outcome::delivered(None);
    }
    if is_letter_chat(&send.chat_id) {
        let by = Party { scope: caller.scope, agent: caller.agent };
        return desk.letters.store_reply(by, &send).await;
    }
    let named = platform.clone().unwrap_or_else(|| "relay".to_owned());
    let tag = Tag { platform, handle: bot_handle };
    let Caller { scope, agent, .. } = caller;
    let sender = Sender { scope, agent, greeted, tag: &tag, through: None };
    let admitted = match desk.gate.admit_send(sender, request_id, send).await {
        Ok(admitted) => admitted,
        Err(AdmitError::Refused(refusal)) => return Outcome::refused(&named, &refusal.to_string()),
        // Nothing was executed; this text makes the client retry by itself.
        Err(AdmitError::Store(_)) => return Outcome::failed("network error behind the desk"),
    };
    if let Some(fleeting) = Fleeting::of(&admitted) {
        return told(desk.egress.show(&fleeting).await);
    }
    deliver(desk, &admitted, turn).await
}

async fn deliver(desk: &Desk, admitted: &AdmittedSend, turn: Option<SendTurn>) -> Outcome {
    let Some(turn) = turn else { return told(Settled::no_turn()) };
    match desk.egress.deliver(admitted, &turn).await {
        Ok(settled) => told(settled),
        // The send may be stored, and then it will be executed.
        Err(_) => Outcome::ambiguous(),
    }
}

async fn in_time(turn: Option<SendTurn>) -> Option<SendTurn> {
    let mut turn = turn?;
    turn.come().await.then_some(turn)
}

fn told(settled: Settled) -> Outcome {
    match settled {
        Settled::Delivered(Receipt { chat: Some(chat), .. }) => Outcome::chat(chat.name, chat.kind),
        Settled::Delivered(Receipt { message_id, thread_id, chat: None, is_plain }) => {
            let outcome = Outcome::delivered(message_id);
            let outcome = if is_plain { outcome.said_plainly() } else { outcome };
            match thread_id {
                Some(thread) => outcome.in_thread(thread, None),
                None => outcome,
            }
        }
        // A reply or an edit refers to the first part.
        Settled::InParts(parts) if parts.is_whole() => {
            told(Settled::Delivered(parts.said.into_iter().next().unwrap_or_default()))
        }
        Settled::InParts(parts) => Outcome::partly(parts.said.len(), parts.of),
        Settled::Failed(why) => Outcome::failed(why),
        Settled::Ambiguous => Outcome::ambiguous(),
    }
}
