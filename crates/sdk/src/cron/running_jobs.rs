//! The count of each job's runs in this process.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The jobs that run in this process, and how often.
#[derive(Clone, Debug, Default)]
pub(super) struct RunningJobs(Arc<Mutex<BTreeMap<String, usize>>>);

/// A run, until it is dropped.
#[must_use = "a run ends when it is dropped"]
pub(super) struct RunningJob {
    jobs: RunningJobs,
    id: String,
}

impl RunningJobs {
    pub(super) fn begin(&self, id: &str) -> RunningJob {
        *self.lock().entry(id.to_owned()).or_default() += 1;
        RunningJob { jobs: self.clone(), id: id.to_owned() }
    }

    /// Returns true if a run of this job is in progress.
    pub(super) fn contains(&self, id: &str) -> bool {
        self.lock().contains_key(id)
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, usize>> {
        // The map is consistent at every step, also if a holder of the lock panicked.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for RunningJob {
    fn drop(&mut self) {
        let mut jobs = self.jobs.lock();
        if let Some(count) = jobs.get_mut(&self.id) {
            *count -= 1;
            if *count == 0 {
                jobs.remove(&self.id);
            }
        }
    }
}
