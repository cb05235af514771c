//! Prove: real processes, real PostgreSQL, and figures counted from outside.
//!
//! Each proof is a binary of its own. It sets a [`stage`]: a [`cluster`], a [`desk`] in front of
//! it, and beside them the [`gateway`]s and the [`platform`] as processes of their own
//! ([`worker`]), so that what they cost is told apart from what the desk costs. They know of the desk only what
//! any client knows, and what they saw is compared in [`history`].
//!
//! # Promise
//!
//! A figure is printed only if nothing was lost, doubled or led astray on the way to it. When
//! a proof ends, in whatever way, its processes end and its folder is removed.

pub mod stage;
pub mod cluster;
pub mod cron_load;
pub mod psql;
pub mod load_probe;
pub mod desk;
pub mod setup;
pub mod wakers;
pub mod worker;
pub(crate) mod pace;
pub(crate) mod called;
pub mod platform;
pub mod gateway;
pub mod secrets;
pub mod sleepers;
pub mod loopback;
pub mod conformance;
pub mod chaos;
pub mod walls;
pub mod owner_kill;
pub mod gate_rate;
pub mod history;
pub mod bare;
pub mod model;
pub mod phase;
pub mod rate;
pub mod procfs;
pub mod figures;
pub mod ui;
pub mod chance;
