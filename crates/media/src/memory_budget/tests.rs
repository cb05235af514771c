use std::collections::HashMap;
use std::time::Duration;

use proptest::prelude::*;
use tokio::time::advance;
use uuid::Uuid;

use super::*;

const MIB: u64 = 1024 * 1024;
const WAIT: Duration = Duration::from_secs(5);

fn tenant(number: u128) -> TenantId {
    TenantId::from_uuid(Uuid::from_u128(number))
}

fn request(number: u128, bytes: u64) -> MemoryRequest {
    MemoryRequest { tenant: tenant(number), bytes, until: Instant::now() + WAIT }
}

impl MemoryBudget {
    async fn take(&self, number: u128, bytes: u64) -> MemoryPermit {
        self.reserve(request(number, bytes)).await.expect("there is memory")
    }

    /// Begins to wait for memory.
    fn wait(&self, number: u128, bytes: u64) -> Wait {
        let (budget, request) = (self.clone(), request(number, bytes));
        Wait(tokio::spawn(async move { budget.reserve(request).await }))
    }

    async fn wait_until_waiting(&self, count: usize) {
        while self.lock().waiting() != count {
            tokio::task::yield_now().await;
        }
    }
}

/// A request that waits.
struct Wait(tokio::task::JoinHandle<Result<MemoryPermit, MemoryBusy>>);

impl Wait {
    async fn result(self) -> Result<MemoryPermit, MemoryBusy> {
        self.0.await.expect("the task ends")
    }
}

/// Fills the whole memory, with one request of each of several tenants.
async fn fill(budget: &MemoryBudget) -> Vec<MemoryPermit> {
    let mut held = Vec::new();
    for number in 100..104 {
        held.push(budget.take(number, MEDIA_MEMORY_TENANT_BYTES_MAX).await);
    }
    assert_eq!(budget.lock().held_by_all, MEDIA_MEMORY_BYTES_MAX);
    held
}

#[tokio::test(start_paused = true)]
async fn a_tenant_gets_its_part_and_no_more() {
    let budget = MemoryBudget::default();
    let mut held = Vec::new();
    for _ in 0..16 {
        held.push(budget.take(1, 4 * MIB).await);
    }

    let began = Instant::now();
    assert_eq!(budget.reserve(request(1, 1)).await.map(|_| ()), Err(MemoryBusy));
    assert_eq!(began.elapsed(), WAIT, "the wait ends at its deadline");
    budget.take(2, 25 * MIB).await;
    held.pop();
    budget.take(1, 4 * MIB).await;
}

#[tokio::test(start_paused = true)]
async fn one_tenant_has_less_when_many_use_memory() {
    let budget = MemoryBudget::default();
    let mut held = Vec::new();
    for number in 1..=8 {
        held.push(budget.take(number, 25 * MIB).await);
    }

    let second = budget.wait(1, 25 * MIB);
    budget.wait_until_waiting(1).await;
    let newcomer = budget.take(9, 25 * MIB).await;
    drop((held, newcomer));
    second.result().await.expect("there is memory again");
}

#[tokio::test(start_paused = true)]
async fn a_newcomer_comes_before_the_rest_of_a_queue() {
    let budget = MemoryBudget::default();
    let mut held = fill(&budget).await;
    let mut queue = Vec::new();
    for count in 1..=3 {
        queue.push(budget.wait(1, 64 * MIB));
        budget.wait_until_waiting(count).await;
    }
    let newcomer = budget.wait(2, 64 * MIB);
    budget.wait_until_waiting(4).await;

    held.pop();
    let first = queue.remove(0).result().await.expect("the first of the queue");
    held.pop();
    let newcomer = newcomer.result().await.expect("the newcomer has the second turn");
    assert_eq!(budget.lock().waiting(), 2);
    drop((first, newcomer));
}

#[tokio::test(start_paused = true)]
async fn free_memory_is_saved_for_a_large_file() {
    let budget = MemoryBudget::default();
    let mut held = fill(&budget).await;
    let large = budget.wait(1, 64 * MIB);
    budget.wait_until_waiting(1).await;
    let small = budget.wait(2, MIB);
    budget.wait_until_waiting(2).await;

    held.pop();
    let large = large.result().await.expect("it was first");
    assert_eq!(budget.lock().waiting(), 1, "nothing is left for the small one");
    drop(large);
    small.result().await.expect("its turn");
}

#[tokio::test(start_paused = true)]
async fn a_request_that_is_given_up_leaves_no_trace() {
    let budget = MemoryBudget::default();
    let held = fill(&budget).await;
    let given_up = budget.wait(1, 64 * MIB);
    budget.wait_until_waiting(1).await;
    given_up.0.abort();
    budget.wait_until_waiting(0).await;
    let late = budget.wait(1, MIB);
    budget.wait_until_waiting(1).await;
    advance(WAIT).await;
    assert_eq!(late.result().await.map(|_| ()), Err(MemoryBusy));

    drop(held);
    let state = budget.lock();
    assert_eq!((state.held_by_all, state.held.len(), state.queues.len()), (0, 0, 0));
}

#[tokio::test(start_paused = true)]
async fn a_full_queue_refuses_at_once() {
    let budget = MemoryBudget::default();
    let _held = fill(&budget).await;
    let mut waits = Vec::new();
    for _ in 0..MEDIA_MEMORY_WAITS_TENANT_MAX {
        waits.push(budget.wait(1, MIB));
    }
    budget.wait_until_waiting(MEDIA_MEMORY_WAITS_TENANT_MAX).await;

    let began = Instant::now();
    assert_eq!(budget.reserve(request(1, MIB)).await.map(|_| ()), Err(MemoryBusy));
    assert_eq!(began.elapsed(), Duration::ZERO);
    let other = budget.wait(2, MIB);
    budget.wait_until_waiting(MEDIA_MEMORY_WAITS_TENANT_MAX + 1).await;
    drop(other);
}

/// A request, or the end of the oldest file of a tenant.
#[derive(Clone, Debug)]
enum Step {
    Ask(u128, u64),
    End(u128),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let ask = (0..6_u128, 0..=80 * MIB).prop_map(|(number, bytes)| Step::Ask(number, bytes));
    let end = (0..6_u128).prop_map(Step::End);
    prop::collection::vec(prop_oneof![ask, end], 0..80)
}

proptest! {
    #[test]
    fn the_bounds_hold_and_every_request_is_served_in_the_end(steps in steps()) {
        let mut state = BudgetState::default();
        let mut held: HashMap<TenantId, VecDeque<u64>> = HashMap::new();
        let mut receivers = Vec::new();
        let (mut asked, mut served) = (0, 0);
        // Each pass over the tenants ends a file if there is one, and a request is served when no file is left.
        let ends = (0..6).map(Step::End).cycle().take(6 * (2 * steps.len() + 1));
        for step in steps.into_iter().chain(ends) {
            match step {
                Step::Ask(number, bytes) => {
                    let (grant, granted) = oneshot::channel();
                    let until = Instant::from_std(std::time::Instant::now());
                    let request = MemoryRequest { tenant: tenant(number), bytes, until };
                    asked += usize::from(state.enqueue(request, grant).is_some());
                    receivers.push(granted);
                }
                Step::End(number) => {
                    let oldest = held.get_mut(&tenant(number)).and_then(VecDeque::pop_front);
                    if let Some(bytes) = oldest {
                        state.release(tenant(number), bytes);
                    }
                }
            }
            while let Some((tenant, waiter)) = state.take_next() {
                held.entry(tenant).or_default().push_back(waiter.bytes);
                served += 1;
            }
            prop_assert!(state.held_by_all <= MEDIA_MEMORY_BYTES_MAX);
            prop_assert!(state.held.values().all(|held| *held <= MEDIA_MEMORY_TENANT_BYTES_MAX));
            prop_assert_eq!(state.held_by_all, held.values().flatten().sum::<u64>());
        }
        prop_assert_eq!((served, state.waiting(), state.turns.len()), (asked, 0, 0));
    }
}
