//! Intake: bytes from a platform become verified events.
//!
//! # Promise
//!
//! A [`Verified`] event was signed by the platform its bot belongs to, or told by it where we asked, and
//! every client can take it. Nothing of an unsigned request is read.

mod verified;

pub use verified::{Intake, Quarantined, Told, Verified, VerifyError, backfill, listen, verify};
