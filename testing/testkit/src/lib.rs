//! Testkit: what tests stand on.
//!
//! [`scripted`] is a platform whose every word and answer a test decides. It is the only part
//! that a binary may be built with (feature `scripted`); all the rest is for tests alone
//! (feature `stores`): a [`FakeClock`], [`builders`] that make proven events the honest way, a
//! [`Memory`] store behind every port, and the [`conformance`] suites that say what the ports'
//! promises mean. [`telegram`] and [`discord`] are servers that answer as Telegram and Discord do
//! (features of the same names). [`fire`] signs tokens of cron fires, good and forged. [`cases`] are counted for who asks how much was proven.

pub mod scripted;
#[cfg(any(feature = "stores", feature = "telegram"))]
pub mod cases;
#[cfg(any(feature = "stores", feature = "telegram"))]
pub mod logs;
#[cfg(feature = "telegram")]
pub mod telegram;
#[cfg(feature = "discord")]
pub mod discord;
#[cfg(feature = "fire")]
pub mod fire;
#[cfg(any(feature = "stores", feature = "telegram"))]
mod clock;
#[cfg(feature = "stores")]
pub mod builders;
#[cfg(feature = "stores")]
mod memory;
#[cfg(feature = "stores")]
mod writers;
#[cfg(feature = "stores")]
pub mod conformance;
#[cfg(feature = "desk")]
pub mod desk;

#[cfg(any(feature = "stores", feature = "telegram"))]
pub use clock::FakeClock;
#[cfg(feature = "stores")]
pub use memory::{Memory, MemoryShelves, media};
#[cfg(feature = "stores")]
pub use writers::Writers;
