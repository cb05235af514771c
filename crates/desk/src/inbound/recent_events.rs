//! Keeps the events that this node stored in the last minutes, and stores those again that the database lost.
//!
//! A failover to a standby that lagged takes the last commits away, and the platform does not send an event again that
//! the desk confirmed. The events take the whole way in once more: the gate decides again, and an event that survived is
//! a duplicate by its key.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use futures_util::future::join_all;
use nightdesk_intake::VerifiedEvent;
use nightdesk_types::limits::{
    STORE_AGAIN_AGE_MAX, STORE_AGAIN_BYTES_MAX, STORE_AGAIN_FOR, STORE_AGAIN_TOGETHER_MAX,
};
use nightdesk_types::{BotId, Incarnation, StoreError};
use tokio::sync::Notify;

use super::{EventOrigin, Inbound, Placements};
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

impl StoredAgain {
    const fn add(&mut self, other: Self) {
        self.stored += other.stored;
        self.kept += other.kept;
        self.refused += other.refused;
        self.dropped += other.dropped;
    }
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
        let count = queues.recalled.events.len();
        if count > 0 {
            tracing::warn!("storing {count} recent events again: the database has another history");
        }
        self.recalled.notify_one();
    }

    /// Takes the oldest recalled events, and drops those that are too old.
    fn next_recalled(&self) -> Vec<RecentEvent> {
        let since = Instant::now().checked_sub(STORE_AGAIN_AGE_MAX);
        let (mut queues, mut taken) = (self.lock(), Vec::new());
        while taken.len() < STORE_AGAIN_TOGETHER_MAX
            && let Some(event) = queues.recalled.pop()
        {
            // The key by which a duplicate is recognised is gone some days later.
            if since.is_some_and(|since| event.arrived_at < since) {
                queues.dropped += 1;
            } else {
                taken.push(event);
            }
        }
        taken
    }

    fn put_back(&self, events: Vec<RecentEvent>) {
        let mut queues = self.lock();
        events.into_iter().rev().for_each(|event| queues.recalled.put_back(event));
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

    /// Stores recalled events again, the events of each bot oldest first. Events that fail stay; call it again.
    pub async fn store_again(&self, counts: &mut StoredAgain) -> Result<(), StoreError> {
        loop {
            let recalled = self.recent.next_recalled();
            if recalled.is_empty() {
                counts.dropped += std::mem::take(&mut self.recent.lock().dropped);
                return Ok(());
            }
            let mut failed = None;
            let by_bot = group_by_bot(recalled);
            for result in join_all(by_bot.into_iter().map(|group| self.put_again(group))).await {
                match result {
                    Ok(group) => counts.add(group),
                    Err(FailedGroup { events, error }) => {
                        self.recent.put_back(events);
                        failed = Some(error);
                    }
                }
            }
            if let Some(error) = failed {
                return Err(error);
            }
        }
    }

    /// Deletes events that are too old to be stored again. A quiet node would keep them until the next event.
    pub fn forget_old_events(&self) {
        let since = Instant::now().checked_sub(STORE_AGAIN_AGE_MAX);
        let mut queues = self.recent.lock();
        while queues.recent.oldest_arrived_before(since) {
            queues.recent.pop();
        }
    }

    /// Puts events of one bot again, in order.
    async fn put_again(&self, events: Vec<RecentEvent>) -> Result<StoredAgain, FailedGroup> {
        self.put_group(&events).await.map_err(|error| FailedGroup { events, error })
    }

    async fn put_group(&self, events: &[RecentEvent]) -> Result<StoredAgain, StoreError> {
        let arrived_at = events.iter().map(|event| event.arrived_at).min();
        let (Some(RecentEvent { account, .. }), Some(arrived_at)) = (events.first(), arrived_at)
        else {
            return Ok(StoredAgain::default());
        };
        let mut admitted = Vec::with_capacity(events.len());
        for RecentEvent { event, .. } in events {
            // The author wrote it minutes ago, so it is no flood.
            let origin = EventOrigin::Backfill;
            admitted.extend(self.admissions.admit(account, event.clone(), origin).await?);
        }
        let Placements { stored, duplicates, .. } =
            self.place(account, admitted, arrived_at).await?;
        let refused = events.len() - stored - duplicates;
        Ok(StoredAgain { stored, kept: duplicates, refused, dropped: 0 })
    }
}

/// Events of one bot that could not be stored again.
struct FailedGroup {
    events: Vec<RecentEvent>,
    error: StoreError,
}

/// Divides events by their bots. The events of each bot keep their order.
fn group_by_bot(events: Vec<RecentEvent>) -> Vec<Vec<RecentEvent>> {
    let mut groups: HashMap<BotId, Vec<RecentEvent>> = HashMap::new();
    for event in events {
        groups.entry(event.account.bot.id).or_default().push(event);
    }
    groups.into_values().collect()
}
