//! Provides test support.
//!
//! [`scripted`] is a platform whose messages and answers a test decides. It is the only part that a binary may be built
//! with (feature `scripted`). The rest is only for tests (feature `stores`): a [`FakeClock`], [`builders`] that make
//! events through the real intake and gate, a [`Memory`] store behind every port, and the [`conformance`] suites that
//! define the ports' promises. [`telegram`] and [`discord`] are servers that answer as Telegram and Discord do
//! (features of the same names). [`fire`] signs tokens of cron fires, valid and forged. [`cases`] counts the cases of
//! tests.

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
