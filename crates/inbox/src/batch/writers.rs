//! Several queues for one kind of request. The hash of a key selects the queue.

use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher, Hash};

use tokio_util::task::TaskTracker;

use super::{Batch, BatchQueue};

/// Queues with a worker each.
pub struct Writers<B: Batch> {
    queues: Vec<BatchQueue<B>>,
    /// The same in every process. An outsider cannot target a writer, because the desk generates the ids.
    hasher: BuildHasherDefault<DefaultHasher>,
}

impl<B: Batch> std::fmt::Debug for Writers<B> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(&self.queues).finish()
    }
}

impl<B: Batch> Writers<B> {
    /// Starts so many workers. They end when the writers are dropped.
    pub fn start(
        count: usize,
        batch: impl Fn() -> B,
        operation: &'static str,
        tasks: &TaskTracker,
    ) -> Self {
        let queues = (0..count).map(|_| BatchQueue::start(batch(), operation, tasks)).collect();
        Self { queues, hasher: BuildHasherDefault::default() }
    }

    /// Returns the queue for a key.
    pub fn queue_for(&self, key: impl Hash) -> &BatchQueue<B> {
        let queues = u64::try_from(self.queues.len()).unwrap_or(1);
        &self.queues[usize::try_from(self.hasher.hash_one(key) % queues).unwrap_or(0)]
    }
}
