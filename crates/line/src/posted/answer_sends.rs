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
    /// The number of this attempt.
    number: u32,
    /// The number of earlier attempts whose failure is recorded under their id.
    recorded: u32,
}

/// The result of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AttemptResult {
    /// A repeat would change nothing.
    Final,
    /// It failed for now, and the desk recorded that.
    Failed,
    /// The desk did not record it. An earlier request with the same id, by another node, may have been executed.
    Unrecorded,
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
            let attempt = SendAttempt {
                outbound: outbound.clone(),
                first: first.clone(),
                number: 1,
                recorded: 0,
            };
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
        result: AttemptResult,
    ) -> Option<AnswerStep> {
        let attempt = self.0.remove(request_id)?;
        let next = match result {
            AttemptResult::Final => None,
            AttemptResult::Failed => attempt.after_recorded(),
            AttemptResult::Unrecorded => attempt.again(),
        };
        if let Some(next) = next {
            let again = AnswerStep::Repeat(Box::new(next.outbound.clone()), next.pause());
            self.0.insert(next.outbound.request_id.clone(), next);
            return Some(again);
        }
        Some(if self.0.is_empty() { AnswerStep::Finish } else { AnswerStep::Wait })
    }
}

impl SendAttempt {
    /// Returns the next attempt after a recorded failure. The next one needs an id of its own, which follows from the
    /// first one: another node that posts the entry again makes the same attempts.
    fn after_recorded(self) -> Option<Self> {
        let recorded = self.recorded + 1;
        let request_id = RequestId::new(format!("{}~{}", self.first, recorded + 1))?;
        let outbound = Outbound { request_id, ..self.outbound };
        Self { outbound, recorded, ..self }.again()
    }

    /// Returns the next attempt under the same id.
    fn again(self) -> Option<Self> {
        let number = self.number + 1;
        (number <= ANSWER_ATTEMPTS_MAX).then_some(Self { number, ..self })
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

        let mut record = |id: &str| sends.record(&request(id), AttemptResult::Final);

        assert_eq!(record("other"), None);
        assert_eq!(record("e.1"), Some(AnswerStep::Wait));
        assert_eq!(record("e.1"), None, "it came before");
        assert_eq!(record("e.0"), Some(AnswerStep::Finish));
    }

    #[test]
    fn a_send_that_fails_for_now_is_made_again_under_ids_of_its_own() {
        let mut sends = AnswerSends::new(&[send("e.0")]);
        let (mut id, mut pauses) = (request("e.0"), Vec::new());
        while let Some(AnswerStep::Repeat(next, pause)) = sends.record(&id, AttemptResult::Failed) {
            pauses.push(pause.as_secs());
            id = next.request_id;
            assert!(sends.awaits(&id));
        }

        assert_eq!(id.as_str(), "e.0~8");
        assert_eq!(pauses, [2, 4, 8, 16, 30, 30, 30]);
        assert!(!sends.awaits(&id), "the last failure ends the answer");
    }

    #[test]
    fn a_send_that_was_not_recorded_is_made_again_under_its_id() {
        let mut sends = AnswerSends::new(&[send("e.0")]);
        let mut next_id = |id: &str, result| match sends.record(&request(id), result) {
            Some(AnswerStep::Repeat(next, _)) => next.request_id.as_str().to_owned(),
            other => panic!("{other:?}"),
        };

        assert_eq!(next_id("e.0", AttemptResult::Unrecorded), "e.0");
        assert_eq!(next_id("e.0", AttemptResult::Failed), "e.0~2");
        assert_eq!(next_id("e.0~2", AttemptResult::Unrecorded), "e.0~2");
        assert_eq!(next_id("e.0~2", AttemptResult::Failed), "e.0~3");
    }
}
