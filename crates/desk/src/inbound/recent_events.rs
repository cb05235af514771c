//! Keeps the events that this node stored in the last minutes, and stores those again that the database lost.
//!
//! A failover to a standby that lagged takes the last commits away, and the platform does not send an event again that
//! the desk confirmed. The events take the whole way in once more: the gate decides again, and an event that survived is
//! a duplicate by its key.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use nightdesk_intake::VerifiedEvent;
use nightdesk_types::StoreError;
use nightdesk_types::limits::{STORE_AGAIN_BYTES_MAX, STORE_AGAIN_FOR};

use super::{EventOrigin, Inbound, Placement};
use crate::Account;

/// The recent events, oldest first.
#[derive(Debug, Default)]
pub(super) struct RecentEvents(Mutex<EventQueue>);

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
    pub(super) stored_at: Instant,
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
}

impl RecentEvents {
    pub(super) fn keep(&self, event: RecentEvent) {
        let now = event.stored_at;
        let mut queue = self.lock();
        queue.bytes += event.bytes;
        queue.events.push_back(event);
        let is_over = |queue: &EventQueue| {
            queue.bytes > STORE_AGAIN_BYTES_MAX
                || queue.events.front().is_some_and(|oldest| {
                    now.saturating_duration_since(oldest.stored_at) > STORE_AGAIN_FOR
                })
        };
        while is_over(&queue) {
            let Some(oldest) = queue.events.pop_front() else { break };
            queue.bytes -= oldest.bytes;
        }
    }

    /// Returns the oldest event, which leaves the queue.
    fn next(&self) -> Option<RecentEvent> {
        let mut queue = self.lock();
        let oldest = queue.events.pop_front()?;
        queue.bytes -= oldest.bytes;
        Some(oldest)
    }

    /// Puts an event back that could not be stored.
    fn put_back(&self, event: RecentEvent) {
        let mut queue = self.lock();
        queue.bytes += event.bytes;
        queue.events.push_front(event);
    }

    fn len(&self) -> usize {
        self.lock().events.len()
    }

    fn lock(&self) -> MutexGuard<'_, EventQueue> {
        // The queue is consistent at every step, also if a holder of the lock panicked.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inbound {
    /// Stores the recent events again, oldest first. An event that fails stays, with all after it; call it again.
    pub async fn store_again(&self, counts: &mut StoredAgain) -> Result<(), StoreError> {
        // Events that come in meanwhile are stored in the new history.
        for _ in 0..self.recent.len() {
            let Some(recent) = self.recent.next() else { break };
            let (account, event) = (recent.account.clone(), recent.event.clone());
            match self.put_again(&account, event).await {
                Ok(Placement::Stored) => counts.stored += 1,
                Ok(Placement::Duplicate) => {
                    counts.kept += 1;
                    self.recent.keep(recent);
                }
                Ok(Placement::Nowhere | Placement::Fenced) => counts.refused += 1,
                Err(error) => {
                    self.recent.put_back(recent);
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    async fn put_again(
        &self,
        account: &Account,
        event: VerifiedEvent,
    ) -> Result<Placement, StoreError> {
        // The author wrote it minutes ago, so it is no flood.
        match self.admissions.admit(account, event, EventOrigin::Backfill).await? {
            Ok(admitted) => self.place(account, vec![admitted], Instant::now()).await,
            Err(placement) => Ok(placement),
        }
    }
}
