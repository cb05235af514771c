//! Keeps the events that this node stored in the last minutes, and stores those again that the database lost.
//!
//! A failover to a standby that lagged takes the last commits away, and the platform does not send an event again that
//! the desk confirmed. The events take the whole way in once more: the gate decides again, and an event that survived is
//! a duplicate by its key.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use nightdesk_intake::VerifiedEvent;
use nightdesk_types::limits::{STORE_AGAIN_AGE_MAX, STORE_AGAIN_BYTES_MAX, STORE_AGAIN_FOR};
use nightdesk_types::{Incarnation, StoreError};
use tokio::sync::Notify;

use super::{EventOrigin, Inbound, Placement};
use crate::Account;

/// The events of the current history, and those of earlier ones that are to be stored again.
#[derive(Debug, Default)]
pub(super) struct RecentEvents {
    queues: Mutex<Queues>,
    recalled: Notify,
}

#[derive(Debug, Default)]
struct Queues {
    /// The history that the node follows, once it changed.
    history: Option<Incarnation>,
    recent: EventQueue,
    recalled: EventQueue,
    /// Recalled events that were dropped since they were last counted.
    dropped: usize,
}

/// Events, oldest first.
#[derive(Debug, Default)]
struct EventQueue {
    events: VecDeque<RecentEvent>,
    bytes: usize,
}

/// An event that was stored.
#[derive(Debug)]
pub(super) struct RecentEvent {
    pub(super) account: Account,
    pub(super) event: VerifiedEvent,
    pub(super) bytes: usize,
    pub(super) arrived_at: Instant,
    /// The history in which it was stored, if it is known.
    pub(super) history: Option<Incarnation>,
}

/// The count of recent events that the database lost and has again, and of those that no agent may receive any more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StoredAgain {
    /// Events that were stored again.
    pub stored: usize,
    /// Events that the database still had.
    pub kept: usize,
    /// Events that the gate refuses now. Each has its record of refusal.
    pub refused: usize,
    /// Events that were dropped, because they are too old or take too much memory. The database may lack them.
    pub dropped: usize,
}

impl EventQueue {
    fn push(&mut self, event: RecentEvent) {
        self.bytes += event.bytes;
        self.events.push_back(event);
    }

    fn pop(&mut self) -> Option<RecentEvent> {
        let oldest = self.events.pop_front()?;
        self.bytes -= oldest.bytes;
        Some(oldest)
    }

    fn put_back(&mut self, event: RecentEvent) {
        self.bytes += event.bytes;
        self.events.push_front(event);
    }

    fn oldest_arrived_before(&self, instant: Option<Instant>) -> bool {
        let oldest = self.events.front().map(|event| event.arrived_at);
        instant.zip(oldest).is_some_and(|(instant, oldest)| oldest < instant)
    }
}

impl RecentEvents {
    /// Keeps an event. One that was stored in an earlier history is stored again.
    pub(super) fn keep(&self, event: RecentEvent) {
        let since = event.arrived_at.checked_sub(STORE_AGAIN_FOR);
        let mut queues = self.lock();
        let (stored_in, current) = (event.history, queues.history);
        if stored_in.zip(current).is_some_and(|(stored_in, current)| stored_in != current) {
            queues.recalled.push(event);
            queues.bound_recalled();
            self.recalled.notify_one();
            return;
        }
        let recent = &mut queues.recent;
        recent.push(event);
        while recent.bytes > STORE_AGAIN_BYTES_MAX || recent.oldest_arrived_before(since) {
            recent.pop();
        }
    }

    /// Returns the history that the node follows, if it changed since the start.
    pub(super) fn history(&self) -> Option<Incarnation> {
        self.lock().history
    }

    fn recall(&self, current: Incarnation) {
        let mut queues = self.lock();
        queues.history = Some(current);
        // Events that arrive from now on push none of these out.
        while let Some(event) = queues.recent.pop() {
            queues.recalled.push(event);
        }
        queues.bound_recalled();
        self.recalled.notify_one();
    }

    fn next_recalled(&self) -> Option<RecentEvent> {
        let since = Instant::now().checked_sub(STORE_AGAIN_AGE_MAX);
        let mut queues = self.lock();
        // The key by which a duplicate is recognised is gone some days later.
        while queues.recalled.oldest_arrived_before(since) {
            queues.recalled.pop();
            queues.dropped += 1;
        }
        queues.recalled.pop()
    }

    fn lock(&self) -> MutexGuard<'_, Queues> {
        // The queues are consistent at every step, also if a holder of the lock panicked.
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Queues {
    fn bound_recalled(&mut self) {
        while self.recalled.bytes > STORE_AGAIN_BYTES_MAX && self.recalled.pop().is_some() {
            self.dropped += 1;
        }
    }
}

impl Inbound {
    /// Follows a history of the database: the events that were stored in earlier ones are to be stored again.
    pub fn recall_events(&self, current: Incarnation) {
        self.recent.recall(current);
    }

    /// Returns when there are events to be stored again.
    pub async fn wait_for_recalled(&self) {
        self.recent.recalled.notified().await;
    }

    /// Stores recalled events again, oldest first. An event that fails stays, with all after it; call it again.
    pub async fn store_again(&self, counts: &mut StoredAgain) -> Result<(), StoreError> {
        while let Some(recalled) = self.recent.next_recalled() {
            match self.put_again(&recalled).await {
                Ok(Placement::Stored) => counts.stored += 1,
                Ok(Placement::Duplicate) => counts.kept += 1,
                Ok(Placement::Nowhere | Placement::Fenced) => counts.refused += 1,
                Err(error) => {
                    self.recent.lock().recalled.put_back(recalled);
                    return Err(error);
                }
            }
        }
        counts.dropped += std::mem::take(&mut self.recent.lock().dropped);
        Ok(())
    }

    /// Deletes events that are too old to be stored again. A quiet node would keep them until the next event.
    pub fn forget_old_events(&self) {
        let since = Instant::now().checked_sub(STORE_AGAIN_AGE_MAX);
        let mut queues = self.recent.lock();
        while queues.recent.oldest_arrived_before(since) {
            queues.recent.pop();
        }
    }

    async fn put_again(&self, recalled: &RecentEvent) -> Result<Placement, StoreError> {
        let RecentEvent { account, event, arrived_at, .. } = recalled;
        // The author wrote it minutes ago, so it is no flood.
        match self.admissions.admit(account, event.clone(), EventOrigin::Backfill).await? {
            Ok(admitted) => self.place(account, vec![admitted], *arrived_at).await,
            Err(placement) => Ok(placement),
        }
    }
}
