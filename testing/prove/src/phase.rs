//! Phase: what happened in a stretch of a proof, and what it cost whom.

use std::time::Duration;

use anyhow::Result;

use crate::figures::per_second;
use crate::procfs;
use crate::stage::Stage;

/// What happened in a phase, or in several of one side.
#[derive(Debug, Default)]
pub struct Phase {
    /// Events that went the whole road.
    pub events: u64,
    /// Of those, accepted on one node and handed over on another.
    pub crossed: u64,
    /// How long it took.
    pub elapsed: Duration,
    /// What it cost.
    pub used: Used,
}

/// The time processes had a core.
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
    /// Events in a second.
    pub fn rate(&self) -> f64 {
        per_second(self.events, self.elapsed)
    }

    /// Adds what happened in another.
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
    /// Since everything was started.
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

    /// Since it was so much.
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
