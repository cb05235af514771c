//! Measures the events and the CPU time of a phase.

use std::time::Duration;

use anyhow::Result;

use crate::figures::per_second;
use crate::procfs;
use crate::stage::Stage;

/// The measurements of one phase, or the sum of several.
#[derive(Debug, Default)]
pub struct Phase {
    /// Events that went the whole road.
    pub events: u64,
    /// Events accepted on one node and handed over on another.
    pub crossed: u64,
    /// Duration.
    pub elapsed: Duration,
    /// CPU time.
    pub used: Used,
}

/// CPU time of the processes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Used {
    /// Of all nodes of the desk.
    pub desk: Duration,
    /// Of PostgreSQL.
    pub pg: Duration,
    /// Of Redis.
    pub redis: Duration,
    /// Of the gateways.
    pub gateways: Duration,
    /// Of the platform.
    pub platform: Duration,
}

impl Phase {
    /// Returns the events per second.
    pub fn rate(&self) -> f64 {
        per_second(self.events, self.elapsed)
    }

    /// Adds the measurements of another phase.
    pub fn add(&mut self, other: &Self) {
        self.events += other.events;
        self.crossed += other.crossed;
        self.elapsed += other.elapsed;
        self.used.desk += other.used.desk;
        self.used.pg += other.used.pg;
        self.used.redis += other.used.redis;
        self.used.gateways += other.used.gateways;
        self.used.platform += other.used.platform;
    }
}

impl Used {
    /// Returns the CPU time since the start.
    pub fn so_far(stage: &Stage) -> Result<Self> {
        Ok(Self {
            desk: stage.nodes().map(|node| procfs::cpu(node.pid())).sum::<Result<_>>()?,
            pg: procfs::cpu_with_children(stage.cluster.pid())?,
            redis: stage
                .redis
                .as_ref()
                .map_or(Ok(Duration::ZERO), |bell| procfs::cpu(bell.pid()))?,
            gateways: procfs::cpu(stage.gateways.pid())?,
            platform: procfs::cpu(stage.platform.pid())?,
        })
    }

    /// Returns the CPU time since an earlier measurement.
    #[must_use]
    pub fn since(self, before: Self) -> Self {
        Self {
            desk: self.desk.saturating_sub(before.desk),
            pg: self.pg.saturating_sub(before.pg),
            redis: self.redis.saturating_sub(before.redis),
            gateways: self.gateways.saturating_sub(before.gateways),
            platform: self.platform.saturating_sub(before.platform),
        }
    }
}
