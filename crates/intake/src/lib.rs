//! Verifies a platform's bytes and normalises them into events.
//!
//! # Promise
//!
//! A [`VerifiedEvent`] event was signed by the platform of its bot, or returned by the platform to a call of the desk, and
//! every client can take it. Nothing of an unsigned request is parsed.

mod verified;

pub use verified::{
    Intake, SourceEvent, UnreadableEvent, VerifiedEvent, VerifyError, backfill, listen, verify,
};
