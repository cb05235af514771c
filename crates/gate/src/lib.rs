//! Decides which agents an event may reach, and where an agent may send.
//!
//! # Promise
//!
//! An [`AdmittedEvent`] event names every agent that may see it and no other. It carries the version of the decision, which
//! the inbox checks again. An [`AdmittedSend`] goes only where its agent may write and changes
//! no message of another agent that its agent does not moderate, and an [`AdmittedLetter`] only to an
//! agent that its sender may write to. Every refusal is a [`Refusal`] that names its layer.
//!
//! The decisions are pure functions in [`decide`]; begin there.

pub mod decide;
mod facts;
pub mod bot_reach;
mod reach_cache;
mod sender_cache;
mod gate;
mod admitted;
mod link_command;
mod stop_button;
mod stop_command;
mod store;

pub use admitted::{AdmittedEvent, AdmittedSend, Recipient};
pub use bot_reach::{ReachChange, VisibilityLookup};
pub use decide::{
    AdmissionRefusal, AdmittedLetter, BotTag, Decision, LetterGrants, LetterNotGranted, Reach,
    Refusal, SendRefusal, decide_letter,
};
pub use facts::{EventFacts, EventPlace};
pub use gate::{AdmitError, Gate, Sender};
pub use link_command::ChatLinkCommand;
pub use stop_command::{ChatStopCommand, StopForm, StopWord};
pub use store::{BotMessage, BotPrompt, RefusalNote, Store, StoredRefusal};
