//! Marks work that only the agent knows of.

use tokio::sync::watch;

/// Prevents an agent from sleeping until it is dropped. From [`Desk::busy`](crate::Desk::busy).
#[derive(Debug)]
#[must_use = "the agent may sleep as soon as this is dropped"]
pub struct Busy(watch::Sender<usize>);

impl Busy {
    pub(crate) fn new(count: watch::Sender<usize>) -> Self {
        count.send_modify(|held| *held += 1);
        Self(count)
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.send_modify(|held| *held -= 1);
    }
}
