//! Bus: the bell between nodes.
//!
//! # Promise
//!
//! None. The bell is a hint: it carries no bodies and no truth, nobody may depend on it, and
//! whoever missed it finds the same in the table. [`Ears`] is the bell of one node, and where
//! the bell of several is heard; [`Doubt`] says which lines may have missed it.
//!
//! What goes from node to node is a [`Ring`] under a [`Seal`]: short, signed, and news only once.

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
