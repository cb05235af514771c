//! Lanes: sends of one agent in one chat stay in order, and the parts of one send are not mixed with other sends of the
//! bot in the chat.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, PoisonError};

use nightdesk_types::limits::{SEND_DONE_WITHIN, TURNS_MAX};
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout_at};

use crate::sync::{Mutex, MutexGuard};

/// The lanes in use. A lane exists while it has a turn.
#[derive(Debug)]
pub struct Lanes<K: Hash + Eq> {
    tails: Arc<Mutex<LaneTails<K>>>,
}

/// The last turn of each lane.
#[derive(Debug)]
struct LaneTails<K> {
    last: HashMap<K, EarlierTurn>,
    /// The number of turns in all lanes.
    turns: usize,
}

/// A turn as the next one sees it.
#[derive(Debug)]
struct EarlierTurn {
    ticket: u64,
    /// Resolves when that turn is over. A turn that leaves early passes on the turn before it.
    over: oneshot::Receiver<Option<Self>>,
}

/// A turn in a lane. The next turn comes when this is dropped.
#[derive(Debug)]
pub struct LaneTurn<K: Hash + Eq> {
    key: K,
    ticket: u64,
    until: Instant,
    before: Option<EarlierTurn>,
    tails: Arc<Mutex<LaneTails<K>>>,
    over: Option<oneshot::Sender<Option<EarlierTurn>>>,
}

impl<K: Hash + Eq> Default for Lanes<K> {
    fn default() -> Self {
        let tails = LaneTails { last: HashMap::new(), turns: 0 };
        Self { tails: Arc::new(Mutex::new(tails)) }
    }
}

impl<K: Hash + Eq + Clone> Lanes<K> {
    /// Takes the next turn, with the deadline of a send. Turns are in the order of these calls. `None`: the lanes are
    /// full.
    pub fn enter(&self, key: K) -> Option<LaneTurn<K>> {
        self.enter_until(key, Instant::now() + SEND_DONE_WITHIN)
    }

    /// Takes the next turn, with this deadline.
    pub(crate) fn enter_until(&self, key: K, until: Instant) -> Option<LaneTurn<K>> {
        let (over, ends) = oneshot::channel();
        let mut tails = lock(&self.tails);
        if tails.turns == TURNS_MAX {
            return None;
        }
        tails.turns += 1;
        let before = tails.last.remove(&key);
        let ticket = before.as_ref().map_or(0, |before| before.ticket + 1);
        tails.last.insert(key.clone(), EarlierTurn { ticket, over: ends });
        drop(tails);
        let tails = Arc::clone(&self.tails);
        Some(LaneTurn { key, ticket, until, before, tails, over: Some(over) })
    }

    /// Returns the number of lanes in use.
    pub fn lanes_in_use(&self) -> usize {
        lock(&self.tails).last.len()
    }
}

impl<K: Hash + Eq> LaneTurn<K> {
    /// Waits until all earlier turns are over. Returns true if that was in time.
    pub async fn wait_for_turn(&mut self) -> bool {
        while let Some(before) = &mut self.before {
            let Ok(over) = timeout_at(self.until, &mut before.over).await else { return false };
            // An error means that the earlier turn was dropped, so it is over too.
            self.before = over.ok().flatten();
        }
        true
    }

    /// Returns the deadline.
    pub(crate) const fn deadline(&self) -> Instant {
        self.until
    }

    /// Returns the turn that is still before one that leaves early.
    fn earlier_turn(&mut self) -> Option<EarlierTurn> {
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

impl<K: Hash + Eq> Drop for LaneTurn<K> {
    fn drop(&mut self) {
        let mut before = self.earlier_turn();
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
            // The receiver may not exist.
            drop(over.send(before));
        }
    }
}

fn lock<K>(tails: &Mutex<LaneTails<K>>) -> MutexGuard<'_, LaneTails<K>> {
    tails.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
