//! Bus: the bell between nodes.
//!
//! # Promise
//!
//! None. The bell is a hint: it carries no bodies and no truth, nobody may depend on it, and
//! whoever missed it finds the same in the table. [`Ears`] is the bell of one node.

mod bell;
mod ear;
mod watch;

pub use bell::{Bell, Ring};
pub use ear::{Ear, Ears, Heard, Order};
pub use watch::{Full, Watch, Watchers};
