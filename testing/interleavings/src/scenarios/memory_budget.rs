//! The memory for files, which tenants share.

use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use loom::thread;
use nightdesk_types::TenantId;
use nightdesk_types::limits::{MEDIA_MEMORY_BYTES_MAX, MEDIA_MEMORY_TENANT_BYTES_MAX};
use tokio::time::Instant;
use uuid::Uuid;

use crate::media::memory_budget::{MemoryBudget, MemoryPermit, MemoryRequest};
use crate::{block_on, explore};

/// Tenants that fill the memory with one permit each.
const FULL: u128 = (MEDIA_MEMORY_BYTES_MAX / MEDIA_MEMORY_TENANT_BYTES_MAX) as u128;

fn request(tenant: u128) -> MemoryRequest {
    MemoryRequest {
        tenant: TenantId::from_uuid(Uuid::from_u128(tenant)),
        bytes: MEDIA_MEMORY_TENANT_BYTES_MAX,
        until: Instant::now() + Duration::from_hours(1),
    }
}

/// Takes the permits of these tenants, which must be free.
fn fill(budget: &MemoryBudget, tenants: std::ops::Range<u128>) -> Vec<MemoryPermit> {
    tenants.map(|tenant| block_on(budget.reserve(request(tenant))).expect("it is free")).collect()
}

/// Two tenants wait for the place of a third: each gets it, and all of the memory is free at the end.
pub fn released_memory_reaches_each_waiting_tenant() {
    explore(|| {
        let budget = MemoryBudget::default();
        let mut held = fill(&budget, 0..FULL);
        let released = held.pop();
        let waiting = [FULL, FULL + 1].map(|tenant| {
            let budget = budget.clone();
            thread::spawn(move || drop(block_on(budget.reserve(request(tenant)))))
        });
        drop(released);
        for thread in waiting {
            assert!(thread.join().is_ok());
        }
        drop(held);
        assert_eq!(fill(&budget, 0..FULL).len() as u128, FULL, "no byte is lost");
    });
}

/// A request is abandoned while memory becomes free: the memory goes to the next request or back.
pub fn an_abandoned_request_keeps_no_memory() {
    explore(|| {
        let budget = MemoryBudget::default();
        let mut held = fill(&budget, 0..FULL);
        let released = held.pop();
        let abandoning = {
            let budget = budget.clone();
            thread::spawn(move || {
                let mut waits = pin!(budget.reserve(request(FULL)));
                let mut context = Context::from_waker(Waker::noop());
                // Granted at once, or dropped while it waits.
                matches!(waits.as_mut().poll(&mut context), Poll::Ready(Ok(_)))
            })
        };
        let waiting = {
            let budget = budget.clone();
            thread::spawn(move || drop(block_on(budget.reserve(request(FULL + 1)))))
        };
        drop(released);
        assert!(abandoning.join().is_ok() && waiting.join().is_ok());
        drop(held);
        assert_eq!(fill(&budget, 0..FULL).len() as u128, FULL, "no byte is lost");
    });
}
