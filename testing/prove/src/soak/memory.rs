//! Compares the memory of each node at the end with its memory when it had settled.

use std::time::Duration;

use anyhow::{Context, Result};

use crate::procfs::rss_kib;
use crate::ui;

/// The memory of all nodes of a run.
#[derive(Debug)]
pub(super) struct MemoryWatch {
    lives: Vec<NodeLife>,
    settles_in: Duration,
}

/// The present life of a node. A restart begins another one.
#[derive(Clone, Copy, Debug, Default)]
struct NodeLife {
    pid: Option<u32>,
    began: Duration,
    /// Memory when it had settled, if it has.
    settled_kib: Option<u64>,
    last_kib: u64,
}

impl MemoryWatch {
    /// Creates a watch over so many nodes. A node has settled so long after its start.
    pub(super) fn new(nodes: usize, settles_in: Duration) -> Self {
        Self { lives: vec![NodeLife::default(); nodes], settles_in }
    }

    /// Reads the memory of each node that runs, at this time of the run.
    pub(super) fn look(&mut self, pids: &[Option<u32>], now: Duration) {
        for (node, pid) in pids.iter().enumerate() {
            // A node that is about to be started again has no memory.
            let kib = pid.and_then(|pid| rss_kib(pid).ok());
            self.observe(node, pid.zip(kib), now);
        }
    }

    fn observe(&mut self, node: usize, seen: Option<(u32, u64)>, now: Duration) {
        let life = &mut self.lives[node];
        let Some((pid, kib)) = seen else { return };
        if life.pid != Some(pid) {
            *life = NodeLife { pid: Some(pid), began: now, settled_kib: None, last_kib: kib };
        }
        life.last_kib = kib;
        if now.saturating_sub(life.began) >= self.settles_in {
            life.settled_kib.get_or_insert(kib);
        }
    }

    /// Prints the memory of each node.
    pub(super) fn tell(&self) {
        for (node, life) in self.lives.iter().enumerate() {
            let settled = life.settled_kib.map_or_else(|| "none".to_owned(), |kib| kib.to_string());
            let number = node + 1;
            ui::put(&format!("node-{number}: settled_kib={settled} last_kib={}", life.last_kib));
        }
    }

    /// Returns the highest ratio of a node's last memory to its settled memory.
    pub(super) fn worst_ratio(&self) -> Result<f64> {
        let ratios = self.lives.iter().map(|life| {
            let settled =
                life.settled_kib.context("a node did not live long enough to be measured")?;
            Ok(to_f64(life.last_kib) / to_f64(settled.max(1)))
        });
        ratios.collect::<Result<Vec<f64>>>().map(|all| all.into_iter().fold(0.0, f64::max))
    }
}

/// Memory in KiB is far below the numbers that a float cannot hold.
fn to_f64(kib: u64) -> f64 {
    u32::try_from(kib).map_or(f64::MAX, f64::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Duration = Duration::from_mins(1);

    #[test]
    fn a_restart_begins_the_measurement_again() {
        let mut watch = MemoryWatch::new(1, MINUTE * 10);
        for (pid, kib, minute) in
            [(1, 50, 0), (1, 100, 10), (1, 400, 20), (2, 100, 21), (2, 300, 30)]
        {
            watch.observe(0, Some((pid, kib)), MINUTE * minute);
        }
        assert!(watch.worst_ratio().is_err(), "the second life is too young");

        for (kib, minute) in [(200, 31), (220, 40)] {
            watch.observe(0, Some((2, kib)), MINUTE * minute);
        }
        assert!((watch.worst_ratio().unwrap() - 1.1).abs() < 1e-9);
    }
}
