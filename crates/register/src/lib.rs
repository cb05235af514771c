//! Register: who is who.
//!
//! # Promise
//!
//! Identity comes from the store, never from what a caller says: a gateway is the one whose
//! secret signed its token, and its tenant and agent are the stored record's.
//!
//! Begin with [`Register`]; [`enrolment`] is how a gateway comes to its secret, [`issuer`] who
//! vouches for machines, [`audit`] what was done.

mod account;
mod gateway;
mod register;
mod store;
pub mod audit;
pub mod enrolment;
pub mod issuer;
mod listing;
mod quota;
mod reaching;

pub use account::{NewBot, StoredBot};
pub use gateway::{Candidate, Gateway, Proof, Unknown, decide};
pub use issuer::Issuer;
pub use listing::{LastLine, ListedGateway, Listing, LiveSecret, Named};
pub use nightdesk_protocol::upgrade_token::is_gateway_name;
pub use quota::Quotas;
pub use reaching::{OnBot, Reaching};
pub use register::{BotDraft, Register, RegisterError, new_secret};
pub use store::{Bots, Entering, Gateways, GreetedBot, NewSecret, Store, StoredSecret};
