//! Tracks requests to the desk until they are answered.

use std::collections::VecDeque;

use nightdesk_protocol::Frame;
use nightdesk_protocol::frame::Outbound;
use nightdesk_protocol::outcome::Outcome;
use nightdesk_types::limits::{SEND_ANSWER_WAIT, SENDS_IN_FLIGHT_MAX};
use nightdesk_types::{Moment, RequestId};

use super::{CallId, DeskRequest, RequestFailure, SessionEffect};
use crate::limits::{LINE_WAIT, SENDS_WAITING_BYTES_MAX, SENDS_WAITING_MAX};

/// Unanswered requests.
#[derive(Debug)]
pub(super) struct Sends {
    waiting: VecDeque<WaitingRequest>,
    in_flight: Vec<InFlight>,
    /// Unique per process, because the desk remembers requests for a day.
    prefix: String,
    requests: u64,
}

#[derive(Debug)]
struct WaitingRequest {
    ask: CallId,
    frame: Frame,
    /// An interrupt has no id and no answer.
    request: Option<RequestId>,
    until: Moment,
}

#[derive(Debug)]
struct InFlight {
    ask: CallId,
    request: RequestId,
    until: Moment,
}

impl Sends {
    pub(super) fn new(requests: [u8; 16]) -> Self {
        let prefix = hex::encode(requests);
        Self { waiting: VecDeque::new(), in_flight: Vec::new(), prefix, requests: 0 }
    }

    /// Appends a request to the queue.
    pub(super) fn enqueue(
        &mut self,
        now: Moment,
        ask: CallId,
        wish: DeskRequest,
        effects: &mut Vec<SessionEffect>,
    ) {
        match self.encode_if_room(wish) {
            Ok((frame, request)) => {
                let until = now + LINE_WAIT;
                self.waiting.push_back(WaitingRequest { ask, frame, request, until });
            }
            Err(why) => effects.push(SessionEffect::Answer(ask, Err(why))),
        }
    }

    /// Writes queued requests while there is room.
    pub(super) fn write_queued(&mut self, now: Moment, effects: &mut Vec<SessionEffect>) {
        while self.in_flight.len() < SENDS_IN_FLIGHT_MAX
            && let Some(WaitingRequest { ask, frame, request, until: _ }) = self.waiting.pop_front()
        {
            effects.push(SessionEffect::Say(frame));
            match request {
                Some(request) => {
                    let until = now + SEND_ANSWER_WAIT;
                    self.in_flight.push(InFlight { ask, request, until });
                }
                None => effects.push(SessionEffect::Answer(ask, Ok(None))),
            }
        }
    }

    /// Handles an answer of the desk. An answer that no caller waits for any more is ignored.
    pub(super) fn take_outcome(
        &mut self,
        request: &RequestId,
        outcome: Outcome,
        effects: &mut Vec<SessionEffect>,
    ) {
        if let Some(at) = self.in_flight.iter().position(|sent| sent.request == *request) {
            let sent = self.in_flight.swap_remove(at);
            effects.push(SessionEffect::Answer(sent.ask, Ok(Some(Box::new(outcome)))));
        }
    }

    /// Answers the requests that reached their timeout. `why`: the reason that the queued ones were not written.
    pub(super) fn give_up(
        &mut self,
        now: Moment,
        why: RequestFailure,
        effects: &mut Vec<SessionEffect>,
    ) {
        while let Some(late) = self.waiting.pop_front_if(|waiting| now >= waiting.until) {
            effects.push(SessionEffect::Answer(late.ask, Err(why)));
        }
        for late in self.in_flight.extract_if(.., |sent| now >= sent.until) {
            effects.push(SessionEffect::Answer(late.ask, Err(RequestFailure::Unknown)));
        }
    }

    /// Handles the end of the line: requests that were written on it may have been executed, and are never repeated.
    pub(super) fn line_ended(&mut self, effects: &mut Vec<SessionEffect>) {
        let lost = self.in_flight.drain(..);
        effects
            .extend(lost.map(|sent| SessionEffect::Answer(sent.ask, Err(RequestFailure::Unknown))));
    }

    /// Handles the end of the session.
    pub(super) fn fail_all(&mut self, effects: &mut Vec<SessionEffect>) {
        self.line_ended(effects);
        let unsaid = self.waiting.drain(..);
        effects.extend(
            unsaid.map(|waiting| SessionEffect::Answer(waiting.ask, Err(RequestFailure::Over))),
        );
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

    fn encode_if_room(
        &mut self,
        wish: DeskRequest,
    ) -> Result<(Frame, Option<RequestId>), RequestFailure> {
        let (frame, request) = self.encode_request(wish)?;
        let bytes: usize = self.waiting.iter().map(|waiting| waiting.frame.len_bytes()).sum();
        let fits = self.waiting.len() < SENDS_WAITING_MAX
            && bytes + frame.len_bytes() <= SENDS_WAITING_BYTES_MAX;
        if fits { Ok((frame, request)) } else { Err(RequestFailure::Busy) }
    }

    fn encode_request(
        &mut self,
        wish: DeskRequest,
    ) -> Result<(Frame, Option<RequestId>), RequestFailure> {
        match wish {
            DeskRequest::Interrupt(interrupt) => {
                Ok((Frame::interrupt(&interrupt).map_err(RequestFailure::TooLong)?, None))
            }
            DeskRequest::Outbound(tagged) => {
                let request_id = match tagged.request_id {
                    Some(own) if self.is_pending(&own) => return Err(RequestFailure::Busy),
                    Some(own) => own,
                    None => self.next_request()?,
                };
                let outbound = Outbound {
                    request_id: request_id.clone(),
                    action: tagged.action,
                    platform: tagged.platform,
                    bot_handle: tagged.bot_handle,
                };
                Ok((Frame::outbound(&outbound).map_err(RequestFailure::TooLong)?, Some(request_id)))
            }
        }
    }

    fn is_pending(&self, request: &RequestId) -> bool {
        self.in_flight.iter().any(|sent| sent.request == *request)
            || self.waiting.iter().any(|waiting| waiting.request.as_ref() == Some(request))
    }

    fn next_request(&mut self) -> Result<RequestId, RequestFailure> {
        self.requests += 1;
        RequestId::new(format!("{}{:08x}", self.prefix, self.requests)).ok_or(RequestFailure::Busy)
    }
}
