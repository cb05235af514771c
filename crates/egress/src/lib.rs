//! Egress: admitted sends go to the platform and leave a receipt.
//!
//! # Promise
//!
//! At most one call to a platform is made for a request. A send whose owner died during the
//! call is `ambiguous`, and is never made a second time in silence; one whose owner died
//! before it is made by whoever sweeps next.
//!
//! Begin with [`Egress`].

mod lane;
mod settled;
mod stop;
mod store;

pub use lane::{Lanes, Turn};
pub use settled::Settled;
pub use stop::{Accounts, Egress};
pub use store::{Asked, LeftOver, Owner, SendKey, Store};
