//! Egress: admitted sends go to the platform and leave a receipt.
//!
//! # Promise
//!
//! At most one call to a platform is made for a request and part, but for calls of which the
//! platform said that it did nothing. A send whose owner died during a call is `ambiguous`, and
//! is never made a second time in silence; one whose owner died before it is made by whoever
//! sweeps next. Calls keep the platform's pace: they wait for it and are not dropped, and what
//! is not done in time is answered as such.
//!
//! Begin with [`Egress`]; how a long text becomes several messages is in [`split()`].

mod split;
mod plan;
mod lane;
mod metrics;
mod pace;
mod settled;
mod stop;
mod aid;
mod owner;
mod in_hand;
mod fleeting;
mod commands;
mod said;
mod store;

pub use aid::{FileError, Lent, Spoken};
pub use fleeting::Fleeting;
pub use lane::{Lanes, Turn};
pub use metrics::Metrics;
pub use pace::Paces;
pub use said::{Said, Sayings, Where};
pub use settled::{Parts, Settled};
pub use split::split;
pub use stop::{Account, Accounts, Egress, SendLanes, SendTurn};
pub use store::{Asked, GivenUp, SendKey, Store, Waiting};
