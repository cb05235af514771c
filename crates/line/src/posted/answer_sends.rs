//! The sends of an answer, until each of them has its result.

use std::collections::HashMap;
use std::time::Duration;

use nightdesk_protocol::frame::Outbound;
use nightdesk_types::RequestId;
use nightdesk_types::backoff::Backoff;
use nightdesk_types::limits::{ANSWER_AGAIN_FIRST, ANSWER_AGAIN_MAX, ANSWER_ATTEMPTS_MAX};

/// The pauses between the attempts of a send.
const AGAIN: Backoff = Backoff { first: ANSWER_AGAIN_FIRST, max: ANSWER_AGAIN_MAX };

/// The sends of an answer whose results are outstanding.
#[derive(Debug)]
pub(super) struct AnswerSends(HashMap<RequestId, SendAttempt>);

#[derive(Debug)]
struct SendAttempt {
    outbound: Outbound,
    /// The id of the first attempt.
    first: RequestId,
    number: u32,
}

/// The next step of an answer after the result of a send.
#[derive(Debug, PartialEq)]
pub(super) enum AnswerStep {
    /// Other results are outstanding.
    Wait,
    /// Make this send after a pause.
    Repeat(Box<Outbound>, Duration),
    /// Every send has its result.
    Finish,
}

impl AnswerSends {
    pub(super) fn new(sends: &[Outbound]) -> Self {
        let attempts = sends.iter().map(|outbound| {
            let first = outbound.request_id.clone();
            let attempt =
                SendAttempt { outbound: outbound.clone(), first: first.clone(), number: 1 };
            (first, attempt)
        });
        Self(attempts.collect())
    }

    /// Returns true if the result of this send is outstanding.
    pub(super) fn awaits(&self, request_id: &RequestId) -> bool {
        self.0.contains_key(request_id)
    }

    /// Records a result. `None`: it is of no send of this answer.
    pub(super) fn record(
        &mut self,
        request_id: &RequestId,
        is_temporary: bool,
    ) -> Option<AnswerStep> {
        let attempt = self.0.remove(request_id)?;
        let next = if is_temporary { attempt.next() } else { None };
        if let Some(next) = next {
            let again = AnswerStep::Repeat(Box::new(next.outbound.clone()), next.pause());
            self.0.insert(next.outbound.request_id.clone(), next);
            return Some(again);
        }
        Some(if self.0.is_empty() { AnswerStep::Finish } else { AnswerStep::Wait })
    }
}

impl SendAttempt {
    /// Returns the next attempt. The desk stores the failure under the id of this one, so the next one has an id of its
    /// own. The id follows from the first one: another node that posts the entry again makes the same attempts.
    fn next(self) -> Option<Self> {
        let number = self.number + 1;
        let request_id = RequestId::new(format!("{}~{number}", self.first))?;
        let outbound = Outbound { request_id, ..self.outbound };
        (number <= ANSWER_ATTEMPTS_MAX).then_some(Self { outbound, number, ..self })
    }

    /// Returns the time to wait before this attempt.
    fn pause(&self) -> Duration {
        AGAIN.after(self.number - 1)
    }
}

#[cfg(test)]
mod tests {
    use nightdesk_protocol::action::Action;

    use super::*;

    fn send(id: &str) -> Outbound {
        let action = Action::Unknown { op: "dance".to_owned() };
        Outbound { request_id: request(id), action, platform: None, bot_handle: None }
    }

    fn request(id: &str) -> RequestId {
        RequestId::new(id).expect("an id")
    }

    #[test]
    fn an_answer_ends_with_its_last_result() {
        let mut sends = AnswerSends::new(&[send("e.0"), send("e.1")]);

        assert_eq!(sends.record(&request("other"), false), None);
        assert_eq!(sends.record(&request("e.1"), false), Some(AnswerStep::Wait));
        assert_eq!(sends.record(&request("e.1"), false), None, "it came before");
        assert_eq!(sends.record(&request("e.0"), false), Some(AnswerStep::Finish));
    }

    #[test]
    fn a_send_that_fails_for_now_is_made_again_under_ids_of_its_own() {
        let mut sends = AnswerSends::new(&[send("e.0")]);
        let (mut id, mut pauses) = (request("e.0"), Vec::new());
        while let Some(AnswerStep::Repeat(next, pause)) = sends.record(&id, true) {
            pauses.push(pause.as_secs());
            id = next.request_id;
            assert!(sends.awaits(&id));
        }

        assert_eq!(id.as_str(), "e.0~8");
        assert_eq!(pauses, [2, 4, 8, 16, 30, 30, 30]);
        assert!(!sends.awaits(&id), "the last failure ends the answer");
    }
}
