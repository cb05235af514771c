//! Replies to letters that ask: at once, twice, too late, or never.

use std::time::Duration;

use nightdesk_judge::Event;
use nightdesk_protocol::action::Action;
use nightdesk_protocol::event::Inbound;
use nightdesk_protocol::frame::Outbound;
use nightdesk_protocol::{Frame, ToGateway};
use nightdesk_types::send::Op;
use nightdesk_types::{RequestId, Send};
use tokio::time::Instant;

use super::agent::Dialled;
use super::duty::{Duty, OutgoingFrame};
use crate::chance::Dice;
use crate::chaos::letters::asks;
use crate::chaos::manner::Manner;
use crate::chaos::platform::nonce_in;

/// Delay of a timely and of a late reply, in milliseconds. A sender waits at most half of the maximum.
const SOON_MS: (u64, u64) = (0, 400);
const LATE_MS: (u64, u64) = (3_200, 5_000);

/// A pending reply.
#[derive(Debug)]
pub(super) struct Reply {
    due: Instant,
    nonce: String,
    words: String,
    frame: Frame,
}

impl Duty {
    /// Stores the reply to a letter. A client that never acks a passthrough sends nothing, as with answers.
    pub(super) fn replies(&mut self, dialled: &Dialled<'_>, frame: &ToGateway, dice: &mut Dice) {
        let ToGateway::Inbound { event, .. } = frame else { return };
        let is_asked = event.message.letter.is_some() && asks(&event.message.text);
        if !is_asked || dialled.hall.plan.manners[dialled.member] == Manner::Stock {
            return;
        }
        let soon = |dice: &mut Dice| dice.between_ms(SOON_MS.0, SOON_MS.1);
        match dice.throw() % 100 {
            0..55 => {
                let after = soon(dice);
                self.reply(dialled, event, after);
            }
            55..70 => {
                for _ in 0..2 {
                    let after = soon(dice);
                    self.reply(dialled, event, after);
                }
            }
            70..88 => {
                let after = dice.between_ms(LATE_MS.0, LATE_MS.1);
                self.reply(dialled, event, after);
            }
            _ => {}
        }
    }

    fn reply(&mut self, dialled: &Dialled<'_>, event: &Inbound, after: Duration) {
        self.replied += 1;
        let request = format!("{}.r{}", dialled.conn, self.replied);
        let Some(frame) = said(&request, event) else { return };
        let due = Instant::now() + after;
        let place = self.replies.partition_point(|other| other.due <= due);
        let nonce = nonce_in(&event.message.text).to_owned();
        self.replies.insert(place, Reply { due, nonce, words: request, frame });
    }

    /// Sends the replies that are due. Each is recorded before it is sent.
    pub(super) fn replies_due(&mut self, dialled: &Dialled<'_>) {
        let now = Instant::now();
        while let Some(reply) = self.replies.pop_front_if(|reply| reply.due <= now) {
            let Reply { nonce, words, frame, .. } = reply;
            let (conn, agent) = (dialled.conn.clone(), dialled.agent());
            dialled.hall.notes.note(Event::LetterReply { conn, agent, nonce, words });
            self.outgoing.push(OutgoingFrame::Frame(frame));
        }
    }

    /// Returns the time at which the next reply is due.
    pub(super) fn reply_at(&self) -> Option<Instant> {
        self.replies.front().map(|reply| reply.due)
    }
}

/// Returns a reply in a letter's chat. Its text is the request's id.
fn said(request: &str, event: &Inbound) -> Option<Frame> {
    let op = Op::Send { content: request.to_owned(), reply_to: event.message.message_id.clone() };
    let chat_id = event.source.chat_id.clone();
    let outbound = Outbound {
        request_id: RequestId::new(request)?,
        action: Action::Send(Send { chat_id, op, metadata: serde_json::Map::new() }),
        platform: Some(event.source.platform.clone()),
        bot_handle: None,
    };
    Frame::outbound(&outbound).ok()
}
