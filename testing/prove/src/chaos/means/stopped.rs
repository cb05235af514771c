//! Stops processes with SIGSTOP for a while.

use anyhow::Result;

use crate::procfs::signal;

/// Processes that stand still. Dropping the value makes them continue.
#[derive(Debug)]
pub(in crate::chaos) struct Stopped {
    pids: Vec<u32>,
}

impl Stopped {
    /// Stops these processes, in this order.
    pub(in crate::chaos) fn stop(pids: Vec<u32>) -> Result<Self> {
        let stopped = Self { pids };
        signal("STOP", &stopped.pids)?;
        Ok(stopped)
    }

    /// Stops these processes as well.
    pub(in crate::chaos) fn also(&mut self, pids: &[u32]) -> Result<()> {
        self.pids.extend(pids);
        signal("STOP", pids)
    }
}

impl Drop for Stopped {
    fn drop(&mut self) {
        // A process that has ended needs no signal; the others get theirs.
        signal("CONT", &self.pids).ok();
    }
}
