//! Injects faults into accepts and sends.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use nightdesk_inbox::AcceptRequest;
use nightdesk_types::{AgentId, Incarnation, Seq, StoreError, TenantScope};
use tokio::sync::{OwnedRwLockWriteGuard, RwLock};

use super::Memory;

#[derive(Default)]
pub(super) struct Mishap {
    fails_on: Mutex<Option<String>>,
    held: Arc<RwLock<()>>,
    begun: AtomicUsize,
    fails_sends: AtomicBool,
}

impl Mishap {
    pub(super) async fn meets(&self, events: &[AcceptRequest]) -> Result<(), StoreError> {
        self.begun.fetch_add(1, Ordering::Relaxed);
        drop(self.held.read().await);
        let fails_on = self.fails_on.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let is_met =
            |event: &AcceptRequest| fails_on.as_ref().is_some_and(|chat| event.chat_id() == chat);
        if events.iter().any(is_met) {
            return Err(StoreError::unavailable("put an event", "as the test wants it"));
        }
        Ok(())
    }

    pub(super) fn meets_send(&self) -> Result<(), StoreError> {
        if self.fails_sends.load(Ordering::Relaxed) {
            return Err(StoreError::unavailable("read a send", "as the test wants it"));
        }
        Ok(())
    }
}

impl Memory {
    /// Fails the admission of every send and every look at its record, until it is called with `false`.
    pub fn fail_sends(&self, fails: bool) {
        self.mishap.fails_sends.store(fails, Ordering::Relaxed);
    }

    /// Fails every accept that would store an event of this chat. `None` ends the fault.
    pub fn fail_on_chat(&self, chat: Option<&str>) {
        let chat = chat.map(str::to_owned);
        *self.mishap.fails_on.lock().unwrap_or_else(PoisonError::into_inner) = chat;
    }

    /// Holds every accept until the guard is dropped.
    pub async fn hold_accepts(&self) -> OwnedRwLockWriteGuard<()> {
        Arc::clone(&self.mishap.held).write_owned().await
    }

    /// Returns the number of accepts that were begun.
    pub fn accepts_begun(&self) -> usize {
        self.mishap.begun.load(Ordering::Relaxed)
    }

    /// Loses the entries of an inbox after a number, and every dedupe key, as a store does that was rolled back. A new
    /// history begins.
    pub fn lose_entries(&self, scope: TenantScope, agent: AgentId, after: Seq) -> Incarnation {
        let (now, mut state) = (self.now(), self.lock());
        state.break_history(now);
        state.dedupe_keys.clear();
        if let Some(agent) = state.agents.get_mut(&(scope, agent)) {
            agent.lose_entries(after);
        }
        state.incarnation
    }
}
