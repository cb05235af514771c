//! Explores the orders of a scenario's threads.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use loom::model::Builder;
use loom::sync::Notify;

/// Preemptions of a running thread in one order. Most faults need one or two.
const PREEMPTIONS_MAX: usize = 3;

/// Operations of one order.
const OPERATIONS_MAX: usize = 20_000;

/// Runs a scenario under every order of its threads.
///
/// # Panics
///
/// An assertion of the scenario fails, or all its threads wait.
pub fn explore(scenario: impl Fn() + Sync + Send + 'static) {
    // Deadlines of the product's code need a timer. It never fires: no order takes so long.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    let runtime = runtime.unwrap_or_else(|error| unreachable!("no runtime: {error}"));
    let _entered = runtime.enter();
    let mut orders = Builder::new();
    orders.preemption_bound = Some(PREEMPTIONS_MAX);
    orders.max_branches = OPERATIONS_MAX;
    orders.check(scenario);
}

/// Runs a future on a thread of a scenario.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let signal = Arc::new(ThreadSignal(Notify::new()));
    let waker = Waker::from(Arc::clone(&signal));
    let (mut context, mut future) = (Context::from_waker(&waker), pin!(future));
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
        signal.0.wait();
    }
}

/// Wakes a thread that waits for a future.
struct ThreadSignal(Notify);

impl Wake for ThreadSignal {
    fn wake(self: Arc<Self>) {
        self.0.notify();
    }
}
