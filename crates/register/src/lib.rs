//! Register: who is who.
//!
//! # Promise
//!
//! Identity comes from the store, never from what a caller says: a gateway is the one whose
//! secret signed its token, and its tenant and agent are the stored record's.
//!
//! Begin with [`Register`].

mod account;
mod gateway;
mod register;
mod store;

pub use account::{NewBot, StoredBot};
pub use gateway::{Candidate, Gateway, Proof, Unknown, decide};
pub use register::{BotDraft, Register, RegisterError};
pub use store::{Access, Bots, Entering, Gateways, GreetedBot, NewSecret, Store, StoredSecret};
