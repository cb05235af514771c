//! Courier: letters from agent to agent.
//!
//! # Promise
//!
//! What was said to be delivered lies where its agent finds it. `woken` is true only if the agent was really
//! interrupted; a way that cannot interrupt hands the letter over all the same and says so, and one that is
//! broken fails. One emit has one id, whoever gets it, and the same id twice is one letter.
//!
//! Begin with [`AgentConnector`], the contract, and [`Dispatcher`], which chooses who is asked;
//! `connectors` are the ways that letters go. With the feature `conformance`, any
//! connector can be shown to keep the contract, or not to.

mod address;
mod connector;
pub mod decide;
mod error;
mod run;
mod way;
mod letter;
mod store;
mod dispatch;
mod fresh;
mod metrics;
mod writer;
pub mod connectors;
#[cfg(any(test, feature = "conformance"))]
pub mod conformance;

pub use address::Address;
pub use connector::AgentConnector;
pub use dispatch::{Dispatched, Dispatcher, Notify, Unhealthy};
pub use error::{Cause, ConnectorError, is_passing};
pub use fresh::{fresh_id, hook_key, millis};
pub use letter::{
    AddressFacts, AddressQuery, Due, Grant, GrantedPeer, Letter, LetterEntry, LetterState, Live,
    NamedAgent, NewLetter, Party, Peer, Posting, Put, Replied,
};
pub use metrics::Metrics;
pub use nightdesk_protocol::delivery::Kind;
pub use run::Run;
pub use store::{Came, Failure, Grants, Hooks, Letters, Receipt, Receipts, Record, Route, Store};
pub use way::Way;
pub use writer::LetterWriter;
