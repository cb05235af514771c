//! Marks: what somebody should look at, each thing once however often it was marked.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use nightdesk_types::limits::MARKS_MAX;
use tokio::sync::Notify;

/// What was marked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Marked<T> {
    /// These.
    These(BTreeSet<T>),
    /// Everything there is: too much was marked to remember it one by one, or nobody knows.
    All,
}

/// Things that are marked until one who waits takes them. At most [`MARKS_MAX`] are told apart.
#[derive(Debug)]
pub struct Marks<T> {
    marked: Mutex<Marked<T>>,
    rung: Notify,
}

impl<T> Default for Marks<T> {
    fn default() -> Self {
        Self { marked: Mutex::new(Marked::These(BTreeSet::new())), rung: Notify::new() }
    }
}

impl<T: Ord> Marks<T> {
    /// Marks one thing.
    pub fn mark(&self, thing: T) {
        let mut marked = self.lock();
        if let Marked::These(these) = &mut *marked {
            these.insert(thing);
            if these.len() > MARKS_MAX {
                *marked = Marked::All;
            }
        }
        drop(marked);
        self.rung.notify_one();
    }

    /// Marks everything.
    pub fn mark_all(&self) {
        *self.lock() = Marked::All;
        self.rung.notify_one();
    }

    /// Waits until something is marked, and takes it. One may wait at a time.
    pub async fn taken(&self) -> Marked<T> {
        loop {
            if let Some(marked) = self.take() {
                return marked;
            }
            self.rung.notified().await;
        }
    }

    /// Takes what is marked, if anything is.
    pub fn take(&self) -> Option<Marked<T>> {
        let mut marked = self.lock();
        if matches!(&*marked, Marked::These(these) if these.is_empty()) {
            return None;
        }
        Some(std::mem::replace(&mut *marked, Marked::These(BTreeSet::new())))
    }

    fn lock(&self) -> MutexGuard<'_, Marked<T>> {
        // What is behind it is whole at every step, also if a holder panicked.
        self.marked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_thing_is_taken_once_however_often_it_was_marked() {
        let marks = Marks::default();
        for thing in [1, 2, 1] {
            marks.mark(thing);
        }

        assert_eq!(marks.taken().await, Marked::These(BTreeSet::from([1, 2])));
        assert_eq!(marks.take(), None);
    }

    #[test]
    fn too_many_are_all() {
        let marks = Marks::default();
        (0..MARKS_MAX).for_each(|thing| marks.mark(thing));
        assert!(matches!(marks.take(), Some(Marked::These(these)) if these.len() == MARKS_MAX));

        (0..=MARKS_MAX).for_each(|thing| marks.mark(thing));
        assert_eq!(marks.take(), Some(Marked::All));
    }
}
