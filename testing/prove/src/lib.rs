//! Measures real processes on real PostgreSQL from outside.
//!
//! Each proof is a binary. It sets up a [`stage`]: a [`cluster`], a [`desk`] on it, and beside them the [`gateway`]s
//! and the [`platform`] as separate processes ([`worker`]), so that their cost is separate from the desk's. They use
//! the desk only as any client does, and their records are compared in [`history`].
//!
//! # Promise
//!
//! A figure is printed only if no event was lost, duplicated or misrouted in its measurement. When a proof ends in any
//! way, its processes end and its folder is removed.

pub mod stage;
pub mod cluster;
pub mod runbook;
pub mod lost_commits;
pub mod restore;
pub mod soak;
pub mod cron_load;
pub mod psql;
pub mod load_probe;
pub mod desk;
pub mod setup;
pub mod wakers;
pub mod worker;
pub(crate) mod pace;
pub(crate) mod called;
pub(crate) mod http;
pub mod platform;
pub mod gateway;
pub mod secrets;
pub mod sleepers;
pub mod starve;
pub mod loopback;
pub mod conformance;
pub mod chaos;
pub mod crash_points;
pub mod walls;
pub mod owner_kill;
pub mod gate_rate;
pub mod history;
pub mod bare;
pub mod model;
pub mod phase;
pub mod rate;
pub mod office_load;
pub mod procfs;
pub mod tls;
pub mod figures;
pub mod ui;
pub mod chance;
