//! Letters between agents.
//!
//! # Promise
//!
//! A letter that the desk reports as delivered is where its agent finds it. `woken` is true only if the agent was
//! really interrupted. A connector that cannot interrupt still delivers the letter and reports so; a broken one fails.
//! One dispatch has one id for all its recipients, and a repeated id is the same letter.
//!
//! Begin with [`LetterSender`], the letters of one agent, which every public interface calls. [`DeskConnector`] chooses
//! the way of a letter: through the inbox, or through one of the `connectors`. [`AgentConnector`] is the contract of all
//! of them, and the suite in `testing/conformance` checks any connector against it. [`LetterBackend`] has the services that
//! the desk provides.

mod address;
mod letter;
mod error;
mod connector;
pub mod decide;
mod delivery_method;
mod ids;
mod receipt;
mod store;
mod writer;
mod metrics;
mod outlet;
mod backend;
mod letters;
mod entry;
mod reply;
mod due;
mod context;
mod put;
mod by_inbox;
mod by_outlet;
mod desk_connector;
mod skill_run;
mod dispatch;
mod sender;
pub mod connectors;

pub use address::Address;
pub use backend::{LetterBackend, LetterTurn};
pub use connector::AgentConnector;
pub use delivery_method::DeliveryMethod;
pub use desk_connector::DeskConnector;
pub use dispatch::{DispatchReport, Dispatcher, NotifyRequest, UnhealthyConnector};
pub use due::DueDelivery;
pub use entry::{LetterText, build_entry, is_letter_chat};
pub use error::{ConnectorError, FailureCause, is_temporary};
pub use ids::{hook_key, millis, new_id};
pub use letter::{
    AddressFacts, AddressQuery, DueLetter, Grant, GrantedPeer, Letter, LetterEntry, LetterState,
    NamedAgent, NewLetter, Party, Peer, PeerLine, Posting, PostingOutcome, ReplyOutcome, Route,
};
pub use letters::{LetterParts, Letters};
pub use metrics::Metrics;
pub use nightdesk_protocol::delivery::PayloadKind;
pub use outlet::{ConfiguredWay, Outlet, Outlets};
pub use receipt::{DeliveryFailure, DeliveryOutcome, DeliveryRecord, Receipt};
pub use sender::{LetterOrder, LetterSender};
pub use skill_run::SkillRun;
pub use store::{Grants, Hooks, LetterStore, Receipts, Store};
