//! Register: who is who.
//!
//! # Promise
//!
//! Identity comes from the store, never from what a caller says: a gateway is the one whose
//! secret signed its token, and its tenant and agent are the stored record's.
//!
//! Begin with [`Register`]; [`enrolment`] is how a gateway comes to its secret, [`issuer`] who
//! vouches for machines.

mod account;
mod gateway;
mod register;
mod store;
pub mod enrolment;
pub mod issuer;
mod linking;
mod listing;
mod reaching;

pub use account::{NewBot, StoredBot};
pub use gateway::{Candidate, Gateway, Proof, Unknown, decide};
pub use issuer::Issuer;
pub use linking::{Linking, Redeemed};
pub use listing::{LastLine, ListedGateway, Listing, LiveSecret, Named};
pub use nightdesk_protocol::upgrade_token::is_gateway_name;
pub use reaching::{OnBot, Reaching};
pub use register::{BotDraft, Register, RegisterError, new_secret};
pub use store::{Bots, Entering, Gateways, GreetedBot, NewSecret, Store, StoredSecret};
