//! The stops of a line that its client has not answered.

use std::collections::VecDeque;

use nightdesk_protocol::frame::InterruptResult;
use nightdesk_types::limits::STOPS_OPEN_MAX;
use nightdesk_types::{StopId, StopOutcome, StopReceiver};

use super::LineEffect;

/// The stops whose answers are outstanding, the oldest first.
#[derive(Debug, Default)]
pub(super) struct OpenStops(VecDeque<StopReceiver>);

impl OpenStops {
    /// Adds a stop. Above the limit the oldest one is forgotten: its requester does not wait any more.
    pub(super) fn add(&mut self, receiver: StopReceiver) {
        if self.0.len() == STOPS_OPEN_MAX {
            self.0.pop_front();
        }
        self.0.push_back(receiver);
    }

    /// Returns the report of an answer. An answer to a stop that is not open has none.
    pub(super) fn answer(&mut self, answer: &InterruptResult) -> Option<LineEffect> {
        self.settle(&answer.stop_id, StopOutcome::from_answer(answer.stopped))
    }

    /// Returns the report of a stop with this outcome, and removes the stop.
    pub(super) fn settle(&mut self, stop_id: &StopId, outcome: StopOutcome) -> Option<LineEffect> {
        let index = self.0.iter().position(|open| open.stop_id == *stop_id)?;
        self.0.remove(index).map(|receiver| LineEffect::ReportStop(receiver, outcome))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn receiver(number: usize) -> StopReceiver {
        let stop_id = StopId::from_random(number as u128);
        StopReceiver { stop_id, node: "n".to_owned() }
    }

    fn answer(number: usize) -> InterruptResult {
        InterruptResult { stop_id: receiver(number).stop_id, stopped: true }
    }

    #[test]
    fn an_answer_is_reported_once_and_to_its_requester() {
        let mut stops = OpenStops::default();
        stops.add(receiver(1));
        stops.add(receiver(2));

        let report = LineEffect::ReportStop(receiver(2), StopOutcome::Stopped);
        assert_eq!(stops.answer(&answer(2)), Some(report));
        assert_eq!(stops.answer(&answer(2)), None);
        assert_eq!(stops.answer(&answer(3)), None, "the desk did not ask");
    }

    #[test]
    fn above_the_limit_the_oldest_stop_is_forgotten() {
        let mut stops = OpenStops::default();
        (0..=STOPS_OPEN_MAX).for_each(|number| stops.add(receiver(number)));

        assert_eq!(stops.answer(&answer(0)), None);
        assert!(stops.answer(&answer(1)).is_some());
    }
}
