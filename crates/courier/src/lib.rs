//! Letters between agents.
//!
//! # Promise
//!
//! A letter that the desk reports as delivered is where its agent finds it. `woken` is true only if the agent was
//! really interrupted. A connector that cannot interrupt still delivers the letter and reports so; a broken one fails.
//! One dispatch has one id for all its recipients, and a repeated id is the same letter.
//!
//! Begin with [`AgentConnector`], the contract, and [`Dispatcher`], which chooses the connectors; `connectors` has the
//! implementations. The suite in `testing/conformance` checks any connector against the contract.

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
