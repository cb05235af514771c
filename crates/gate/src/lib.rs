//! Gate: who may reach whom, both ways.
//!
//! # Promise
//!
//! An [`Admitted`] event names every agent that may see it and nobody else; what was decided
//! on is a version that the inbox checks again. An [`Admitted`] send goes where its agent may
//! write, and an [`AdmittedLetter`] to an agent that its sender may write to. Every no is a
//! [`Refusal`] that says which layer said it.
//!
//! The decisions are pure functions in [`decide`]; begin there.

pub mod decide;
mod facts;
pub mod known;
mod kept;
mod admit;
mod admitted;
mod ask;
mod store;

pub use admit::{AdmitError, Gate, Sender};
pub use admitted::{Admitted, AdmittedSend, Recipient};
pub use ask::Ask;
pub use decide::{
    AdmittedLetter, Decision, LetterGrants, LetterNotGranted, Reach, Refusal, Refused, SendRefusal,
    Tag, decide_letter,
};
pub use facts::{Facts, Place};
pub use known::{Change, Floor};
pub use store::{KeptRefusal, Prompt, RefusalNote, Store};
