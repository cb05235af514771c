//! Makes an agent's calls to the platform and stores the receipts.
//!
//! # Promise
//!
//! At most one call to a platform is made per request and part, except for calls that the platform reported as not
//! executed. A send whose owner died during a call is `ambiguous` and is never silently repeated. A send whose owner
//! died before the call is made by the next sweep. Calls obey the platform's rate limit: they wait for it and are not
//! dropped. A send that does not finish in time gets a response that says so.
//!
//! Begin with [`Egress`]; [`split()`] cuts a long text into several messages.

mod split;
mod plan;
mod lane;
mod metrics;
mod pace;
mod settled;
mod account;
mod aid;
mod stop;
mod owner;
mod in_hand;
mod fleeting;
mod commands;
mod said;
mod store;

pub use account::{Account, Accounts, FileError, Lent, Spoken};
pub use fleeting::Fleeting;
pub use lane::{Lanes, Turn};
pub use metrics::Metrics;
pub use pace::Paces;
pub use said::{Said, Sayings, Where};
pub use settled::{Parts, Settled};
pub use split::split;
pub use stop::{Egress, SendLanes, SendTurn};
pub use store::{Asked, GivenUp, SendKey, Store, Waiting};
