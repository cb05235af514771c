//! Decides which agents an event may reach, and where an agent may send.
//!
//! # Promise
//!
//! An [`Admitted`] event names every agent that may see it and no other. It carries the version of the decision, which
//! the inbox checks again. An [`AdmittedSend`] goes only where its agent may write, and an [`AdmittedLetter`] only to an
//! agent that its sender may write to. Every refusal is a [`Refusal`] that names its layer.
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
