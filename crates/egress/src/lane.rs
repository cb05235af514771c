//! Lane: what one agent says in one chat stays in order, and what is said in one chat through
//! one bot is said without a word of others in between.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use nightdesk_types::limits::{SEND_DONE_WITHIN, TURNS_MAX};
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout_at};

/// The lanes in use. A lane lives as long as somebody is in it.
#[derive(Debug)]
pub struct Lanes<K: Hash + Eq> {
    tails: Arc<Mutex<Tails<K>>>,
}

/// Who stands last in each lane.
#[derive(Debug)]
struct Tails<K> {
    last: HashMap<K, Before>,
    /// How many stand in all of them.
    turns: usize,
}

/// A turn, as the one behind it sees it.
#[derive(Debug)]
struct Before {
    ticket: u64,
    /// Ends when that turn is over. One who leaves early names the turn before its own.
    over: oneshot::Receiver<Option<Self>>,
}

/// A place in a lane. The next one's turn comes when this is dropped.
#[derive(Debug)]
pub struct Turn<K: Hash + Eq> {
    key: K,
    ticket: u64,
    until: Instant,
    before: Option<Before>,
    tails: Arc<Mutex<Tails<K>>>,
    over: Option<oneshot::Sender<Option<Before>>>,
}

impl<K: Hash + Eq> Default for Lanes<K> {
    fn default() -> Self {
        let tails = Tails { last: HashMap::new(), turns: 0 };
        Self { tails: Arc::new(Mutex::new(tails)) }
    }
}

impl<K: Hash + Eq + Clone> Lanes<K> {
    /// Takes the next place, for as long as a send may take. Places are in the order of these
    /// calls. `None`: too many stand in the lanes already.
    pub fn enter(&self, key: K) -> Option<Turn<K>> {
        self.enter_until(key, Instant::now() + SEND_DONE_WITHIN)
    }

    /// The same, for as long as the caller says.
    pub(crate) fn enter_until(&self, key: K, until: Instant) -> Option<Turn<K>> {
        let (over, ends) = oneshot::channel();
        let mut tails = lock(&self.tails);
        if tails.turns == TURNS_MAX {
            return None;
        }
        tails.turns += 1;
        let before = tails.last.remove(&key);
        let ticket = before.as_ref().map_or(0, |before| before.ticket + 1);
        tails.last.insert(key.clone(), Before { ticket, over: ends });
        drop(tails);
        let tails = Arc::clone(&self.tails);
        Some(Turn { key, ticket, until, before, tails, over: Some(over) })
    }

    /// How many lanes are in use.
    pub fn in_use(&self) -> usize {
        lock(&self.tails).last.len()
    }
}

impl<K: Hash + Eq> Turn<K> {
    /// Waits until everybody before is through. Answers whether that was in time.
    pub async fn come(&mut self) -> bool {
        while let Some(before) = &mut self.before {
            let Ok(over) = timeout_at(self.until, &mut before.over).await else { return false };
            // An error means that the one before was dropped: its turn is over just the same.
            self.before = over.ok().flatten();
        }
        true
    }

    /// Until when everything must be done.
    pub(crate) const fn until(&self) -> Instant {
        self.until
    }

    /// Who still stands before one who leaves early.
    fn still_before(&mut self) -> Option<Before> {
        while let Some(before) = &mut self.before {
            match before.over.try_recv() {
                Ok(earlier) => self.before = earlier,
                Err(oneshot::error::TryRecvError::Closed) => self.before = None,
                Err(oneshot::error::TryRecvError::Empty) => break,
            }
        }
        self.before.take()
    }
}

impl<K: Hash + Eq> Drop for Turn<K> {
    fn drop(&mut self) {
        let mut before = self.still_before();
        let tails = Arc::clone(&self.tails);
        let mut tails = lock(&tails);
        tails.turns -= 1;
        if let Some(last) = tails.last.get_mut(&self.key).filter(|last| last.ticket == self.ticket)
        {
            match before.take() {
                Some(before) => *last = before,
                None => drop(tails.last.remove(&self.key)),
            }
        }
        drop(tails);
        if let Some(over) = self.over.take() {
            // Nobody may be behind.
            drop(over.send(before));
        }
    }
}

fn lock<K>(tails: &Mutex<Tails<K>>) -> MutexGuard<'_, Tails<K>> {
    tails.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
