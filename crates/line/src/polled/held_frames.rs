//! The frames of a line that wait for a take.

use std::collections::VecDeque;

use nightdesk_protocol::Frame;
use nightdesk_types::limits::HELD_FRAMES_MAX;

/// A frame, and the id of its entry, if it is one.
#[derive(Debug)]
struct HeldFrame {
    number: u64,
    frame: Frame,
    entry: Option<String>,
}

/// Frames, numbered from zero, that the agent may not have yet. A frame is held until the agent names a later position,
/// so a response that was lost can be repeated.
#[derive(Debug, Default)]
pub(super) struct HeldFrames {
    frames: VecDeque<HeldFrame>,
    next: u64,
}

impl HeldFrames {
    /// Adds an entry. The session's window bounds their number.
    pub(super) fn push_entry(&mut self, frame: Frame, entry: String) {
        self.push(frame, Some(entry));
    }

    /// Adds another frame. Above the limit the oldest such frame is dropped: an agent that does not take need not stop a
    /// turn any more.
    pub(super) fn push_order(&mut self, frame: Frame) {
        if self.frames.len() >= HELD_FRAMES_MAX
            && let Some(oldest) = self.frames.iter().position(|held| held.entry.is_none())
        {
            self.frames.remove(oldest);
        }
        self.push(frame, None);
    }

    fn push(&mut self, frame: Frame, entry: Option<String>) {
        self.frames.push_back(HeldFrame { number: self.next, frame, entry });
        self.next += 1;
    }

    /// Drops an entry that was acknowledged.
    pub(super) fn drop_entry(&mut self, entry: &str) {
        self.frames.retain(|held| held.entry.as_deref() != Some(entry));
    }

    /// Returns the frames from a position on, and drops those before it. `None`: there are none.
    pub(super) fn read_from(&mut self, position: u64) -> Option<(u64, Vec<Frame>)> {
        self.frames.retain(|held| held.number >= position);
        let frames: Vec<Frame> = self.frames.iter().map(|held| held.frame.clone()).collect();
        (!frames.is_empty()).then_some((self.next, frames))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(number: usize) -> Frame {
        let mut frame = Frame::going_idle();
        (0..number).for_each(|_| frame = Frame::going_idle_ack());
        frame
    }

    #[test]
    fn a_response_is_repeated_until_a_later_position_is_named() {
        let mut held = HeldFrames::default();
        held.push_entry(frame(0), "a".to_owned());
        held.push_entry(frame(1), "b".to_owned());

        let first = held.read_from(0).expect("two frames wait");
        assert_eq!((first.0, first.1.len()), (2, 2));
        assert_eq!(held.read_from(0), Some(first), "the response was lost");
        assert_eq!(held.read_from(2), None, "the agent has them");
        assert_eq!(held.read_from(0), None, "and they are not held any more");
    }

    #[test]
    fn an_acknowledged_entry_is_not_repeated() {
        let mut held = HeldFrames::default();
        held.push_entry(frame(0), "a".to_owned());
        held.push_entry(frame(1), "b".to_owned());
        held.drop_entry("a");

        assert_eq!(held.read_from(0), Some((2, vec![frame(1)])));
    }

    #[test]
    fn above_the_limit_orders_are_dropped_and_entries_are_not() {
        let mut held = HeldFrames::default();
        held.push_entry(frame(0), "a".to_owned());
        for _ in 0..2 * HELD_FRAMES_MAX {
            held.push_order(frame(1));
        }

        let (_, frames) = held.read_from(0).expect("frames wait");
        assert_eq!(frames.len(), HELD_FRAMES_MAX);
        assert_eq!(frames[0], frame(0), "the entry is still there");
    }
}
