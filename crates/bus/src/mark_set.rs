//! A set of marked items, each taken once, no matter how often it was marked.

use std::collections::BTreeSet;
use std::sync::PoisonError;

use nightdesk_types::limits::MARKS_MAX;
use tokio::sync::Notify;

use crate::sync::{Mutex, MutexGuard};

/// The marked items.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MarkedItems<T> {
    /// These items.
    These(BTreeSet<T>),
    /// All items: too many were marked to store each one, or they are not known.
    All,
}

/// Items that stay marked until a task takes them. At most [`MARKS_MAX`] are stored one by one.
#[derive(Debug)]
pub struct MarkSet<T> {
    marked: Mutex<MarkedItems<T>>,
    mark_signal: Notify,
}

impl<T> Default for MarkSet<T> {
    fn default() -> Self {
        Self { marked: Mutex::new(MarkedItems::These(BTreeSet::new())), mark_signal: Notify::new() }
    }
}

impl<T: Ord> MarkSet<T> {
    /// Marks one item.
    pub fn mark(&self, thing: T) {
        let mut marked = self.lock();
        if let MarkedItems::These(these) = &mut *marked {
            these.insert(thing);
            if these.len() > MARKS_MAX {
                *marked = MarkedItems::All;
            }
        }
        drop(marked);
        self.mark_signal.notify_one();
    }

    /// Marks all items.
    pub fn mark_all(&self) {
        *self.lock() = MarkedItems::All;
        self.mark_signal.notify_one();
    }

    /// Waits until an item is marked, and takes the marked items. Only one task may wait at a time.
    pub async fn wait_and_take(&self) -> MarkedItems<T> {
        loop {
            if let Some(marked) = self.take() {
                return marked;
            }
            self.mark_signal.notified().await;
        }
    }

    /// Takes the marked items, if there are any.
    pub fn take(&self) -> Option<MarkedItems<T>> {
        let mut marked = self.lock();
        if matches!(&*marked, MarkedItems::These(these) if these.is_empty()) {
            return None;
        }
        Some(std::mem::replace(&mut *marked, MarkedItems::These(BTreeSet::new())))
    }

    fn lock(&self) -> MutexGuard<'_, MarkedItems<T>> {
        // The set is consistent at every step, also if a holder of the lock panicked.
        self.marked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_thing_is_taken_once_however_often_it_was_marked() {
        let marks = MarkSet::default();
        for thing in [1, 2, 1] {
            marks.mark(thing);
        }

        assert_eq!(marks.wait_and_take().await, MarkedItems::These(BTreeSet::from([1, 2])));
        assert_eq!(marks.take(), None);
    }

    #[test]
    fn too_many_are_all() {
        let marks = MarkSet::default();
        (0..MARKS_MAX).for_each(|thing| marks.mark(thing));
        assert!(
            matches!(marks.take(), Some(MarkedItems::These(these)) if these.len() == MARKS_MAX)
        );

        (0..=MARKS_MAX).for_each(|thing| marks.mark(thing));
        assert_eq!(marks.take(), Some(MarkedItems::All));
    }
}
