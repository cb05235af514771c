//! The callers that wait for a lookup, by name.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;

use nightdesk_types::limits::LOOKUPS_WAITING_MAX;

/// Too many callers wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("too many lookups are waiting")]
pub(super) struct LookupQueueFull;

/// Callers that wait, in order of their names' arrival. `R` is a caller's reply channel.
#[derive(Debug)]
pub(super) struct LookupQueue<N, R> {
    order: VecDeque<N>,
    replies: HashMap<N, Vec<R>>,
    waiting: usize,
}

impl<N, R> Default for LookupQueue<N, R> {
    fn default() -> Self {
        Self { order: VecDeque::new(), replies: HashMap::new(), waiting: 0 }
    }
}

impl<N: Clone + Eq + Hash, R> LookupQueue<N, R> {
    /// Adds a caller. Callers of one name share a place.
    pub(super) fn push(&mut self, name: N, reply: R) -> Result<(), LookupQueueFull> {
        if self.waiting >= LOOKUPS_WAITING_MAX {
            return Err(LookupQueueFull);
        }
        self.waiting += 1;
        let replies = self.replies.entry(name.clone()).or_default();
        if replies.is_empty() {
            self.order.push_back(name);
        }
        replies.push(reply);
        Ok(())
    }

    /// Removes the oldest names, up to `names_max`, with their callers. Callers that gave up are dropped.
    pub(super) fn take(
        &mut self,
        names_max: usize,
        has_given_up: impl Fn(&R) -> bool,
    ) -> Vec<(N, Vec<R>)> {
        let mut taken = Vec::new();
        while taken.len() < names_max {
            let Some(name) = self.order.pop_front() else { break };
            let mut replies = self.replies.remove(&name).unwrap_or_default();
            self.waiting = self.waiting.saturating_sub(replies.len());
            replies.retain(|reply| !has_given_up(reply));
            if !replies.is_empty() {
                taken.push((name, replies));
            }
        }
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(names: &[&'static str]) -> LookupQueue<&'static str, usize> {
        let mut queue = LookupQueue::default();
        for (caller, name) in names.iter().enumerate() {
            queue.push(*name, caller).unwrap();
        }
        queue
    }

    #[test]
    fn callers_of_one_name_share_a_place() {
        let mut queue = filled(&["a", "b", "a"]);

        assert_eq!(queue.take(1, |_| false), [("a", vec![0, 2])]);
        assert_eq!(queue.take(9, |_| false), [("b", vec![1])]);
        assert_eq!(queue.take(9, |_| false), []);
    }

    #[test]
    fn a_caller_that_gave_up_costs_nothing() {
        let mut queue = filled(&["a", "b", "b"]);

        assert_eq!(queue.take(1, |caller| *caller < 2), [("b", vec![2])]);
    }

    #[test]
    fn the_queue_has_a_bound() {
        let mut queue = LookupQueue::default();

        assert!((0..LOOKUPS_WAITING_MAX).all(|caller| queue.push(caller % 7, caller).is_ok()));
        assert_eq!(queue.push(8, 0), Err(LookupQueueFull));
        assert_eq!(queue.take(1, |_| true), [], "all of them gave up");
        assert_eq!(queue.push(8, 0), Ok(()));
    }
}
