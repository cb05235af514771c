//! A queue with fair turns: shares take turns, so a busy share delays only its own items.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;

/// A bounded queue with a bound per share.
#[derive(Debug)]
pub(super) struct FairQueue<S, T> {
    /// The order of the next turns.
    turns: VecDeque<S>,
    /// The items of each share, in order. No queue is empty.
    waiting: HashMap<S, VecDeque<T>>,
    len: usize,
    len_max: usize,
}

impl<S: Clone + Eq + Hash, T> FairQueue<S, T> {
    pub(super) fn new(len_max: usize) -> Self {
        Self { turns: VecDeque::new(), waiting: HashMap::new(), len: 0, len_max }
    }

    /// Queues an item, unless its share already has as many items as there is room left. One share alone may fill half
    /// of the queue; the rest is for others.
    pub(super) fn push(&mut self, whose: S, one: T) -> Result<(), T> {
        let own = self.waiting.get(&whose).map_or(0, VecDeque::len);
        if own + self.len >= self.len_max {
            return Err(one);
        }
        self.put(whose, one, VecDeque::push_back);
        Ok(())
    }

    /// Returns the next item.
    pub(super) fn pop(&mut self) -> Option<(S, T)> {
        let whose = self.turns.pop_front()?;
        let own = self.waiting.get_mut(&whose)?;
        let one = own.pop_front()?;
        if own.is_empty() {
            self.waiting.remove(&whose);
        } else {
            self.turns.push_back(whose.clone());
        }
        self.len -= 1;
        Some((whose, one))
    }

    /// Returns an item to the queue as the first of its share.
    pub(super) fn give_back(&mut self, whose: S, one: T) {
        self.put(whose, one, VecDeque::push_front);
    }

    fn put(&mut self, whose: S, one: T, put: impl FnOnce(&mut VecDeque<T>, T)) {
        let own = self.waiting.entry(whose.clone()).or_default();
        if own.is_empty() {
            self.turns.push_back(whose);
        }
        put(own, one);
        self.len += 1;
    }

    /// Removes all items that match.
    pub(super) fn remove_matching(&mut self, is_meant: impl Fn(&T) -> bool) -> Vec<T> {
        let mut out = Vec::new();
        for own in &self.turns {
            let Some(own) = self.waiting.get_mut(own) else { continue };
            let (meant, kept): (VecDeque<T>, VecDeque<T>) = own.drain(..).partition(&is_meant);
            out.extend(meant);
            *own = kept;
        }
        self.waiting.retain(|_, own| !own.is_empty());
        self.turns.retain(|whose| self.waiting.contains_key(whose));
        self.len -= out.len();
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn popped(queue: &mut FairQueue<char, u32>) -> Vec<(char, u32)> {
        std::iter::from_fn(|| queue.pop()).collect()
    }

    #[test]
    fn everybody_has_a_turn_and_keeps_their_order() {
        let mut queue = FairQueue::new(100);
        for (whose, one) in [('a', 1), ('a', 2), ('a', 3), ('b', 4), ('c', 5), ('b', 6)] {
            queue.push(whose, one).unwrap();
        }

        assert_eq!(
            popped(&mut queue),
            [('a', 1), ('b', 4), ('c', 5), ('a', 2), ('b', 6), ('a', 3)]
        );
    }

    #[test]
    fn one_alone_leaves_half_to_others() {
        let mut queue = FairQueue::new(100);
        let own = (0..100).filter(|one| queue.push('a', *one).is_ok()).count();
        let others = (0..100).filter(|one| queue.push('b', *one).is_ok()).count();

        assert_eq!((own, others), (50, 25));
        assert!(queue.push('c', 1).is_ok(), "there is still room");
    }

    #[test]
    fn what_is_given_back_is_the_first_of_its_own() {
        let mut queue = FairQueue::new(100);
        (1..=3).for_each(|one| queue.push('a', one).unwrap());
        let (whose, one) = queue.pop().unwrap();
        queue.give_back(whose, one);

        assert_eq!(queue.remove_matching(|one| *one == 2), [2]);
        assert_eq!(popped(&mut queue), [('a', 1), ('a', 3)]);
    }
}
