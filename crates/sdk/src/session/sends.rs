//! Tracks requests to the desk until they are answered.

use std::collections::VecDeque;

use nightdesk_protocol::Frame;
use nightdesk_protocol::frame::Outbound;
use nightdesk_protocol::outcome::Outcome;
use nightdesk_types::limits::{SEND_ANSWER_WAIT, SENDS_IN_FLIGHT_MAX};
use nightdesk_types::{Moment, RequestId};

use super::{AskId, Effect, Unsaid, Wish};
use crate::limits::{LINE_WAIT, SENDS_WAITING_BYTES_MAX, SENDS_WAITING_MAX};

/// Unanswered requests.
#[derive(Debug)]
pub(super) struct Sends {
    waiting: VecDeque<Waiting>,
    in_flight: Vec<InFlight>,
    /// Unique per process, because the desk remembers requests for a day.
    prefix: String,
    requests: u64,
}

#[derive(Debug)]
struct Waiting {
    ask: AskId,
    frame: Frame,
    /// An interrupt has no id and no answer.
    request: Option<RequestId>,
    until: Moment,
}

#[derive(Debug)]
struct InFlight {
    ask: AskId,
    request: RequestId,
    until: Moment,
}

impl Sends {
    pub(super) fn new(requests: [u8; 16]) -> Self {
        let prefix = hex::encode(requests);
        Self { waiting: VecDeque::new(), in_flight: Vec::new(), prefix, requests: 0 }
    }

    /// Appends a request to the queue.
    pub(super) fn ask(&mut self, now: Moment, ask: AskId, wish: Wish, effects: &mut Vec<Effect>) {
        match self.fitting(wish) {
            Ok((frame, request)) => {
                let until = now + LINE_WAIT;
                self.waiting.push_back(Waiting { ask, frame, request, until });
            }
            Err(why) => effects.push(Effect::Answer(ask, Err(why))),
        }
    }

    /// Writes queued requests while there is room.
    pub(super) fn say(&mut self, now: Moment, effects: &mut Vec<Effect>) {
        while self.in_flight.len() < SENDS_IN_FLIGHT_MAX
            && let Some(Waiting { ask, frame, request, until: _ }) = self.waiting.pop_front()
        {
            effects.push(Effect::Say(frame));
            match request {
                Some(request) => {
                    let until = now + SEND_ANSWER_WAIT;
                    self.in_flight.push(InFlight { ask, request, until });
                }
                None => effects.push(Effect::Answer(ask, Ok(None))),
            }
        }
    }

    /// Handles an answer of the desk. An answer that no caller waits for any more is ignored.
    pub(super) fn answered(
        &mut self,
        request: &RequestId,
        outcome: Outcome,
        effects: &mut Vec<Effect>,
    ) {
        if let Some(at) = self.in_flight.iter().position(|sent| sent.request == *request) {
            let sent = self.in_flight.swap_remove(at);
            effects.push(Effect::Answer(sent.ask, Ok(Some(Box::new(outcome)))));
        }
    }

    /// Answers the requests that reached their timeout. `why`: the reason that the queued ones were not written.
    pub(super) fn give_up(&mut self, now: Moment, why: Unsaid, effects: &mut Vec<Effect>) {
        while let Some(late) = self.waiting.pop_front_if(|waiting| now >= waiting.until) {
            effects.push(Effect::Answer(late.ask, Err(why)));
        }
        for late in self.in_flight.extract_if(.., |sent| now >= sent.until) {
            effects.push(Effect::Answer(late.ask, Err(Unsaid::Unknown)));
        }
    }

    /// Handles the end of the line: requests that were written on it may have been executed, and are never repeated.
    pub(super) fn line_ended(&mut self, effects: &mut Vec<Effect>) {
        let lost = self.in_flight.drain(..);
        effects.extend(lost.map(|sent| Effect::Answer(sent.ask, Err(Unsaid::Unknown))));
    }

    /// Handles the end of the session.
    pub(super) fn over(&mut self, effects: &mut Vec<Effect>) {
        self.line_ended(effects);
        let unsaid = self.waiting.drain(..);
        effects.extend(unsaid.map(|waiting| Effect::Answer(waiting.ask, Err(Unsaid::Over))));
    }

    /// Returns true if no caller waits for an answer.
    pub(super) fn is_settled(&self) -> bool {
        self.waiting.is_empty() && self.in_flight.is_empty()
    }

    /// Returns the time of the next timeout.
    pub(super) fn deadline(&self) -> Option<Moment> {
        let waiting = self.waiting.front().map(|waiting| waiting.until);
        self.in_flight.iter().map(|sent| sent.until).chain(waiting).min()
    }

    fn fitting(&mut self, wish: Wish) -> Result<(Frame, Option<RequestId>), Unsaid> {
        let (frame, request) = self.framed(wish)?;
        let bytes: usize = self.waiting.iter().map(|waiting| waiting.frame.len_bytes()).sum();
        let fits = self.waiting.len() < SENDS_WAITING_MAX
            && bytes + frame.len_bytes() <= SENDS_WAITING_BYTES_MAX;
        if fits { Ok((frame, request)) } else { Err(Unsaid::Busy) }
    }

    fn framed(&mut self, wish: Wish) -> Result<(Frame, Option<RequestId>), Unsaid> {
        match wish {
            Wish::Interrupt(interrupt) => {
                Ok((Frame::interrupt(&interrupt).map_err(Unsaid::TooLong)?, None))
            }
            Wish::Outbound(tagged) => {
                let request_id = self.next_request()?;
                let outbound = Outbound {
                    request_id: request_id.clone(),
                    action: tagged.action,
                    platform: tagged.platform,
                    bot_handle: tagged.bot_handle,
                };
                Ok((Frame::outbound(&outbound).map_err(Unsaid::TooLong)?, Some(request_id)))
            }
        }
    }

    fn next_request(&mut self) -> Result<RequestId, Unsaid> {
        self.requests += 1;
        RequestId::new(format!("{}{:08x}", self.prefix, self.requests)).ok_or(Unsaid::Busy)
    }
}
