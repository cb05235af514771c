//! The bell between nodes.
//!
//! # Promise
//!
//! None. The bell is a hint: it carries no bodies and no truth, and no component may depend on it. A node that missed a
//! hint finds the same in the table. [`Ears`] is the bell of one node and receives the hints of the bell between nodes;
//! [`Doubt`] lists the lines that may have missed a hint.
//!
//! A message between nodes is a [`Ring`] under a [`Seal`]: short, signed, and accepted only once.

mod bell;
mod ceiling;
mod ear;
mod ears;
mod marks;
mod wait;
mod doubt;
mod seal;
mod lives;

pub use bell::{Address, Bell, Ring};
pub use ceiling::{Ceiling, NoCeiling};
pub use doubt::{Doubt, spread};
pub use ear::{Ear, Heard, Order};
pub use ears::Ears;
pub use lives::Lives;
pub use marks::{Marked, Marks};
pub use seal::{Refused, Said, Seal};
pub use wait::{Chat, Full, Settlement, Settlements, Wait, Waited, Waits, Watch, Watchers};
