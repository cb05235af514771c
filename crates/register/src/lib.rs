//! Identities: tenants, agents, gateways, bots, and the proofs for each.
//!
//! # Promise
//!
//! Identity comes from the store, never from a caller's claim: a gateway is the one whose secret signed its token, and
//! its tenant and agent are the stored record's.
//!
//! Begin with [`Register`]; [`Caller`] is an authenticated caller, [`enrolment`] gives a gateway its secret,
//! [`issuers`] verify machines' tokens, [`audit`] records actions.

mod account;
#[cfg(test)]
mod forged;
mod caller;
mod capability;
mod command;
mod error;
mod gateway;
mod reception;
mod random;
mod register;
mod secret;
mod store;
mod unopened;
pub mod audit;
pub mod enrolment;
pub mod issuer;
pub mod issuers;
mod linking;
pub mod provision;
mod listing;
mod managing;
mod quota;
mod reaching;

pub use account::{NewBot, StoredBot, StoredBotKey};
pub use caller::{Caller, CallerCheck, CallerProof};
pub use capability::{
    CapabilityPlace, CapabilitySession, CapabilityStore, SealedCapability, SessionDigest,
    StoredCapability,
};
pub use command::{CommandDigest, CommandStore, HeldCommand};
pub use error::RegisterError;
pub use gateway::{Candidate, Gateway, GatewayProof, UnknownGateway, decide};
pub use issuer::Issuer;
pub use issuers::Issuers;
pub use linking::{Linking, RedeemResult};
pub use listing::{LastLine, ListedGateway, ListedIdentity, Listing, LiveSecret};
pub use managing::{AgentReach, Managing, OpenBot, ReachChangeRequest, may_change_reach};
pub use nightdesk_protocol::upgrade_token::is_gateway_name;
pub use quota::Quotas;
pub use random::new_secret;
pub use reaching::{AgentOnBot, Reaching};
pub use reception::{BotReception, Gap, Outage, ReceptionStore};
pub use register::{BotDraft, Register};
pub use secret::{NewSecret, StoredSecret};
pub use store::{Bots, Gateways, GreetedBot, IdentityStore, Store};
