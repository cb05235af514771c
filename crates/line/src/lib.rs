//! The agent's line: a WebSocket, or requests over HTTP.
//!
//! # Promise
//!
//! Entries go out in order, at most one window of them unacknowledged. An ack counts only on the line that delivered
//! the entry. An entry that was not acknowledged when a line ends is still in the inbox. The desk reports a gateway as
//! revoked only on proof.
//!
//! Begin with [`session`], the protocol as a value. [`driver`] executes its effects, and [`upgrade`] opens lines.

pub mod session;
pub mod driver;
pub mod upgrade;
mod acks;
mod addresses;
mod admission;
mod handler;
mod failures;
mod ending;
mod drain;
mod meter;
mod polled;
mod posted;
mod metrics;
mod connection_proof;
mod context;
mod socket;
mod stop_id;
mod store;
mod transport;

pub use admission::DialLimits;
pub use connection_proof::ConnectionProof;
pub use context::LineContext;
pub use drain::DrainOrder;
pub use failures::TokenFailures;
pub use handler::{IdentifyOutcome, LineHandler};
pub use metrics::Metrics;
pub use polled::{LineName, LineOpening, PollError, PolledLines, TakenFrames};
pub use posted::{AgentPost, AgentPoster, PostAnswer, PostOutcome, PostedLines};
pub use stop_id::random_stop_id;
pub use store::{
    AuthenticatedGateway, CloseRecord, ClosingSide, HeldLine, LineRequest, LineStart, Store,
};
