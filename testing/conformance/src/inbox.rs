//! Checks the promises of the inbox's store.
//!
//! In reading order: storing, sources, delivery, acks, parking; then concurrent operation, and a comparison with a
//! model.

mod put;
mod sources;
mod hand_over;
mod acks;
mod aside;
mod by_hand;
mod at_once;
mod model;

pub use acks::*;
pub use aside::*;
pub use at_once::*;
pub use by_hand::*;
pub use hand_over::*;
pub use model::inbox_follows_the_model;
pub use put::*;
pub use sources::*;
