//! The memory of a node that files may use, shared between tenants.
//!
//! # Promise
//!
//! Files hold at most [`MEDIA_MEMORY_BYTES_MAX`] of a node's memory and [`MEDIA_MEMORY_TENANT_BYTES_MAX`] for one tenant.
//! The more memory is in use, the less of it one tenant may hold, so a newcomer usually finds some; otherwise tenants
//! take turns.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, PoisonError};

use nightdesk_types::TenantId;
use nightdesk_types::limits::{
    MEDIA_MEMORY_BYTES_MAX, MEDIA_MEMORY_BYTES_MIN, MEDIA_MEMORY_TENANT_BYTES_MAX,
    MEDIA_MEMORY_WAITS_MAX, MEDIA_MEMORY_WAITS_TENANT_MAX,
};
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout_at};

use crate::Metrics;
use crate::sync::{Mutex, MutexGuard};

/// The memory for files is in use, and did not become free in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("too many files are on their way; retry when some of them have arrived")]
pub struct MemoryBusy;

/// A tenant's request for memory.
#[derive(Clone, Copy, Debug)]
pub struct MemoryRequest {
    /// The tenant.
    pub tenant: TenantId,
    /// The bytes.
    pub bytes: u64,
    /// The end of the wait.
    pub until: Instant,
}

/// Lends the memory for files.
#[derive(Clone, Debug, Default)]
pub(crate) struct MemoryBudget {
    state: Arc<Mutex<BudgetState>>,
    metrics: Metrics,
}

/// Memory for a file, until it is dropped.
#[derive(Debug)]
pub struct MemoryPermit {
    tenant: TenantId,
    bytes: u64,
    budget: MemoryBudget,
}

/// Memory in use, and the requests that wait.
#[derive(Debug, Default)]
struct BudgetState {
    held: HashMap<TenantId, u64>,
    held_by_all: u64,
    queues: HashMap<TenantId, VecDeque<Waiter>>,
    /// Tenants with waiting requests; the first has the next turn.
    turns: VecDeque<TenantId>,
    next_waiter: u64,
}

#[derive(Debug)]
struct Waiter {
    id: u64,
    bytes: u64,
    grant: oneshot::Sender<MemoryPermit>,
}

impl MemoryBudget {
    pub(crate) const fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    /// Waits for memory.
    pub(crate) async fn reserve(&self, request: MemoryRequest) -> Result<MemoryPermit, MemoryBusy> {
        let reserved = self.wait_for_grant(request).await;
        if reserved.is_none() {
            self.metrics.count_refusal();
        }
        reserved.ok_or(MemoryBusy)
    }

    async fn wait_for_grant(&self, request: MemoryRequest) -> Option<MemoryPermit> {
        let (grant, granted) = oneshot::channel();
        let id = self.lock().enqueue(request, grant)?;
        // If this future is dropped, the request leaves its queue.
        let _place = QueuePlace { tenant: request.tenant, id, budget: self };
        self.grant_waiting();
        timeout_at(request.until, granted).await.ok()?.ok()
    }

    /// Gives free memory to waiting requests.
    fn grant_waiting(&self) {
        loop {
            let mut state = self.lock();
            let next = state.take_next();
            self.metrics.show(state.held_by_all, state.waiting());
            drop(state);
            let Some((tenant, waiter)) = next else { return };
            let Waiter { bytes, grant, .. } = waiter;
            // A permit that its request no longer wants is returned when it is dropped.
            drop(grant.send(MemoryPermit { tenant, bytes, budget: self.clone() }));
        }
    }

    fn lock(&self) -> MutexGuard<'_, BudgetState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl MemoryPermit {
    /// Returns the number of bytes.
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl Drop for MemoryPermit {
    fn drop(&mut self) {
        self.budget.lock().release(self.tenant, self.bytes);
        self.budget.grant_waiting();
    }
}

/// The place of a waiting request in its tenant's queue.
struct QueuePlace<'b> {
    tenant: TenantId,
    id: u64,
    budget: &'b MemoryBudget,
}

impl Drop for QueuePlace<'_> {
    fn drop(&mut self) {
        self.budget.lock().leave(self.tenant, self.id);
        // The request may have kept smaller ones behind it from their turn.
        self.budget.grant_waiting();
    }
}

impl BudgetState {
    fn waiting(&self) -> usize {
        self.queues.values().map(VecDeque::len).sum()
    }

    /// Adds a request at the end of its tenant's queue. `None`: the queue is full.
    fn enqueue(
        &mut self,
        request: MemoryRequest,
        grant: oneshot::Sender<MemoryPermit>,
    ) -> Option<u64> {
        let MemoryRequest { tenant, bytes, .. } = request;
        let waits = self.queues.get(&tenant).map_or(0, VecDeque::len);
        if waits >= MEDIA_MEMORY_WAITS_TENANT_MAX || self.waiting() >= MEDIA_MEMORY_WAITS_MAX {
            return None;
        }
        let id = self.next_waiter;
        self.next_waiter += 1;
        let bytes = bytes.clamp(MEDIA_MEMORY_BYTES_MIN, MEDIA_MEMORY_TENANT_BYTES_MAX);
        self.queues.entry(tenant).or_default().push_back(Waiter { id, bytes, grant });
        if !self.turns.contains(&tenant) {
            self.turns.push_back(tenant);
        }
        Some(id)
    }

    fn leave(&mut self, tenant: TenantId, id: u64) {
        if let Some(queue) = self.queues.get_mut(&tenant) {
            queue.retain(|waiter| waiter.id != id);
        }
        self.forget_if_idle(tenant);
    }

    /// Takes the next request that may have its memory. Its tenant's next turn comes after those of all others.
    fn take_next(&mut self) -> Option<(TenantId, Waiter)> {
        let free = MEDIA_MEMORY_BYTES_MAX - self.held_by_all;
        for turn in 0..self.turns.len() {
            let tenant = *self.turns.get(turn)?;
            let held = self.held.get(&tenant).copied().unwrap_or_default();
            let bytes = self.queues.get(&tenant)?.front()?.bytes;
            match decide(MemoryUse { held, free }, bytes) {
                MemoryDecision::Grant => {
                    self.turns.remove(turn);
                    self.turns.push_back(tenant);
                    let waiter = self.queues.get_mut(&tenant)?.pop_front()?;
                    self.forget_if_idle(tenant);
                    *self.held.entry(tenant).or_default() += bytes;
                    self.held_by_all += bytes;
                    return Some((tenant, waiter));
                }
                MemoryDecision::Skip => {}
                MemoryDecision::Save => return None,
            }
        }
        None
    }

    fn forget_if_idle(&mut self, tenant: TenantId) {
        if self.queues.get(&tenant).is_some_and(VecDeque::is_empty) {
            self.queues.remove(&tenant);
            self.turns.retain(|one| *one != tenant);
        }
    }

    fn release(&mut self, tenant: TenantId, bytes: u64) {
        self.held_by_all -= bytes;
        if let Some(held) = self.held.get_mut(&tenant) {
            *held -= bytes;
            if *held == 0 {
                self.held.remove(&tenant);
            }
        }
    }
}

/// Memory that a tenant holds, and memory that is free.
#[derive(Clone, Copy, Debug)]
struct MemoryUse {
    held: u64,
    free: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MemoryDecision {
    /// The request gets its memory.
    Grant,
    /// The tenant has its share; the next tenant has its turn.
    Skip,
    /// The tenant has less than its share: free memory is saved for it.
    Save,
}

/// Decides on the first request of a tenant. A tenant that holds nothing gets all memory that is free; one that holds
/// some gets at most half as much as would then be left to others, so a newcomer finds memory.
fn decide(memory: MemoryUse, bytes: u64) -> MemoryDecision {
    let MemoryUse { held, free } = memory;
    let after = held + bytes;
    if held == 0 {
        return if bytes <= free { MemoryDecision::Grant } else { MemoryDecision::Save };
    }
    let is_within_share = after <= MEDIA_MEMORY_TENANT_BYTES_MAX
        && free.checked_sub(bytes).is_some_and(|left| after <= left / 2);
    if is_within_share { MemoryDecision::Grant } else { MemoryDecision::Skip }
}

#[cfg(test)]
mod tests;
