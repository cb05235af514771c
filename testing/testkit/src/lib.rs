//! Provides test support.
//!
//! [`scripted`] is a platform whose messages and answers a test decides. It is the only module that the binary may use.
//! The others are only for tests: a [`FakeClock`], a [`memory_file`], [`builders`] that make events through the real intake and gate,
//! [`fire`], which signs tokens of cron fires, valid and forged, [`logs`], which captures logs, [`cases`], which
//! counts the cases of tests, and a [`test_vault`].

pub mod scripted;
pub mod cases;
pub mod logs;
pub mod fire;
mod clock;
mod memory_file;
mod vault;
pub mod builders;

pub use clock::FakeClock;
pub use memory_file::memory_file;
pub use vault::{first_data_key, test_vault};
