//! Sends the acks and replies that a gateway owes on a line, and records its frames.

use std::collections::{BTreeSet, VecDeque};
use std::sync::atomic::Ordering;

use nightdesk_judge::{Event, OutResult};
use nightdesk_protocol::action::Action;
use nightdesk_protocol::frame::{Interrupt, Outbound};
use nightdesk_protocol::outcome::Outcome;
use nightdesk_protocol::session_key::SessionKey;
use nightdesk_protocol::{Frame, ToGateway};
use nightdesk_types::send::Op;
use nightdesk_types::{RequestId, Send, Transport};
use tokio::time::Instant;

use super::agent::Dialled;
use super::replying::Reply;
use crate::chance::Dice;
use crate::chaos::manner::Manner;
use crate::chaos::platform::nonce_in;

/// Maximum delay of an ack of a late gateway.
const LATE_MS_MAX: u64 = 5_000;

/// One agent in this many answers its messages.
const ANSWERS_EVERY: usize = 3;

/// After one answer in this many, its turn is interrupted.
const STOPS_EVERY: u64 = 5;

/// An id that no entry has.
const UNKNOWN_ID: &str = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

/// Returns true if this member's agent answers its messages.
pub(crate) const fn answers(member: usize) -> bool {
    member.is_multiple_of(ANSWERS_EVERY)
}

/// A frame that a gateway sends.
#[derive(Debug)]
pub(super) enum OutgoingFrame {
    /// The ack of an entry with this id, which may be no id at all.
    Ack(String),
    Frame(Frame),
}

/// Acks and replies that a gateway owes on one line.
#[derive(Debug, Default)]
pub(super) struct Duty {
    /// Entries to ack, with their due times.
    acks: VecDeque<(Instant, String)>,
    /// Requests without a result.
    asking: BTreeSet<String>,
    asked: u64,
    pub(super) followed: u64,
    /// Replies to letters, with their due times.
    pub(super) replies: VecDeque<Reply>,
    pub(super) replied: u64,
    idle_known: bool,
    /// Frames to send now.
    pub(super) outgoing: Vec<OutgoingFrame>,
}

impl Duty {
    /// Returns the frames to send now.
    pub(super) fn take_outgoing(&mut self) -> Vec<OutgoingFrame> {
        std::mem::take(&mut self.outgoing)
    }

    /// Records a received frame.
    pub(super) fn seen(&mut self, dialled: &Dialled<'_>, frame: &ToGateway, bytes: usize) {
        if let Some(mut seen) = entry_seen(&dialled.conn, &dialled.agent(), frame, bytes) {
            let manner = dialled.hall.plan.manners[dialled.member];
            if let Event::GwRecv { passthrough, .. } = &mut seen {
                // An agent without a WebSocket acks everything, and the desk knows it.
                *passthrough &= manner.transport() == Transport::WebSocket;
            }
            dialled.hall.notes.note(seen);
        }
        if let ToGateway::InterruptInbound { session_key, chat_id, stop_id: _ } = frame {
            dialled.hall.notes.note(Event::StopRecv {
                conn: dialled.conn.clone(),
                agent: dialled.agent(),
                session: session_key.as_str().to_owned(),
                chat: chat_id.clone(),
            });
        }
        if let ToGateway::OutboundResult { request_id, result } = frame {
            let request = request_id.as_str().to_owned();
            if self.asking.remove(&request) {
                dialled.hall.asking.fetch_sub(1, Ordering::Relaxed);
                dialled.hall.notes.note(answered(&dialled.conn, request, result));
            }
        }
        self.idle_known |= *frame == ToGateway::GoingIdleAck;
    }

    /// Stores the acks that the frame requires.
    pub(super) fn owed(
        &mut self,
        dialled: &Dialled<'_>,
        frame: &ToGateway,
        manner: Manner,
        dice: &mut Dice,
    ) {
        let Some(Entry { buffer_id: Some(id), passthrough, .. }) = entry(frame) else { return };
        if manner == Manner::NeverAcks || manner == Manner::Stock && passthrough {
            return;
        }
        // A passthrough is acked at once or never. A send to its chat completes it at the desk, also a send that was
        // already on its way, and the desk may be right before a late ack.
        let late_ms = if manner == Manner::AcksLate && !passthrough { LATE_MS_MAX } else { 0 };
        let late = dice.between_ms(0, late_ms);
        let times = if manner == Manner::AcksTwice { 2 } else { 1 };
        let due = Instant::now() + late;
        let place = self.acks.partition_point(|(other, _)| *other <= due);
        for _ in 0..times {
            self.acks.insert(place, (due, id.to_owned()));
        }
        dialled.hall.acked.fetch_add(1, Ordering::Relaxed);
    }

    /// Sends the acks that are due. Each is recorded before it is sent.
    pub(super) fn acks_due(&mut self, dialled: &Dialled<'_>, manner: Manner) {
        let now = Instant::now();
        while let Some((_, id)) = self.acks.pop_front_if(|(due, _)| *due <= now) {
            dialled.hall.notes.note(Event::GwAck {
                conn: dialled.conn.clone(),
                agent: dialled.agent(),
                buffer_id: id.clone(),
            });
            self.outgoing.push(OutgoingFrame::Ack(id));
            if manner == Manner::AcksUnknown {
                for unknown in [UNKNOWN_ID, "not an id"] {
                    self.outgoing.push(OutgoingFrame::Ack(unknown.to_owned()));
                }
            }
        }
    }

    /// Makes every ack due now.
    pub(super) fn hurry(&mut self) {
        let now = Instant::now();
        self.acks.iter_mut().for_each(|(due, _)| *due = now.min(*due));
    }

    /// Returns the time at which the next ack or reply is due.
    pub(super) fn due_at(&self) -> Option<Instant> {
        let ack = self.acks.front().map(|(due, _)| *due);
        ack.into_iter().chain(self.reply_at()).min()
    }

    /// Answers a message, if this agent does. A gateway that never acks a passthrough sends no answers: see above.
    pub(super) fn answers(&mut self, dialled: &Dialled<'_>, frame: &ToGateway) {
        let ToGateway::Inbound { event, .. } = frame else { return };
        let manner = dialled.hall.plan.manners[dialled.member];
        if !answers(dialled.member) || manner == Manner::Stock || event.message.letter.is_some() {
            return;
        }
        self.asked += 1;
        let request = format!("{}.{}", dialled.conn, self.asked);
        let chat = event.source.chat_id.clone();
        let Some(outbound) = send(&request, &event.source.platform, &chat) else { return };
        self.asking.insert(request.clone());
        dialled.hall.asking.fetch_add(1, Ordering::Relaxed);
        dialled.hall.notes.note(Event::OutReq {
            conn: dialled.conn.clone(),
            agent: dialled.agent(),
            nonce: request.clone(),
            request,
            chat,
        });
        self.outgoing.push(OutgoingFrame::Frame(outbound));
        // Only a WebSocket takes an interrupt.
        if manner.transport() == Transport::WebSocket && self.asked.is_multiple_of(STOPS_EVERY) {
            self.outgoing.extend(stops(dialled, self.asked).map(OutgoingFrame::Frame));
        }
    }

    /// Returns true if the desk has confirmed that the gateway goes idle.
    pub(super) const fn idle_known(&self) -> bool {
        self.idle_known
    }

    /// Records the requests without a result when the line ends.
    pub(super) fn left_over(&self, dialled: &Dialled<'_>) {
        dialled.hall.asking.fetch_sub(self.asking.len() as u64, Ordering::Relaxed);
        for request in &self.asking {
            dialled.hall.notes.note(Event::OutRes {
                conn: dialled.conn.clone(),
                request: request.clone(),
                result: OutResult::Nothing,
            });
        }
    }
}

/// Requests an interrupt of its own agent's turn, on any line of that agent. An interrupt from a line names no chat.
fn stops(dialled: &Dialled<'_>, asked: u64) -> Option<Frame> {
    let session_key = SessionKey::new(format!("session-of-{}", dialled.agent()));
    let interrupt = session_key.map(|session_key| Interrupt { session_key, reason: None });
    let frame = interrupt.and_then(|interrupt| Frame::interrupt(&interrupt).ok())?;
    let (id, agent) = (format!("{}.{asked}", dialled.conn), Some(dialled.agent()));
    dialled.hall.notes.note(Event::StopReq { id, chat: String::new(), agent });
    Some(frame)
}

/// The parts of an entry that a gateway reads.
pub(super) struct Entry<'a> {
    pub(super) buffer_id: Option<&'a str>,
    nonce: &'a str,
    passthrough: bool,
}

/// Returns the parts of a frame that is an entry.
pub(super) fn entry(frame: &ToGateway) -> Option<Entry<'_>> {
    if let ToGateway::Inbound { event, buffer_id } = frame {
        let nonce = nonce_in(&event.message.text);
        return Some(Entry { buffer_id: buffer_id.as_deref(), nonce, passthrough: false });
    }
    let ToGateway::PassthroughForward { forward, buffer_id } = frame else { return None };
    let nonce = nonce_in(&forward.request.path);
    Some(Entry { buffer_id: buffer_id.as_deref(), nonce, passthrough: true })
}

/// Returns the record of an entry.
pub(super) fn entry_seen(
    conn: &str,
    agent: &str,
    frame: &ToGateway,
    bytes: usize,
) -> Option<Event> {
    let Entry { buffer_id, nonce, passthrough } = entry(frame)?;
    Some(Event::GwRecv {
        conn: conn.to_owned(),
        agent: agent.to_owned(),
        buffer_id: buffer_id.unwrap_or_default().to_owned(),
        nonce: nonce.to_owned(),
        bytes: u32::try_from(bytes).unwrap_or(u32::MAX),
        passthrough,
    })
}

/// Returns the record of a request's result.
pub(super) fn answered(conn: &str, request: String, result: &Outcome) -> Event {
    let result = match result {
        result if result.is_success() => OutResult::Done,
        result if result.is_ambiguous() => OutResult::Ambiguous,
        // It reports nothing of an earlier request with the same id.
        result if result.is_unrecorded() => OutResult::Nothing,
        _ => OutResult::Failed,
    };
    Event::OutRes { conn: conn.to_owned(), request, result }
}

/// Returns a message to a chat. Its text is the request's id.
fn send(request: &str, platform: &str, chat: &str) -> Option<Frame> {
    let op = Op::Send { content: request.to_owned(), reply_to: None };
    let send = Send { chat_id: chat.to_owned(), op, metadata: serde_json::Map::new() };
    let outbound = Outbound {
        request_id: RequestId::new(request)?,
        action: Action::Send(send),
        platform: Some(platform.to_owned()),
        bot_handle: None,
    };
    Frame::outbound(&outbound).ok()
}
