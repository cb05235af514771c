//! What the inbox's store promises.
//!
//! In reading order: what is put, whose sources it comes from, how it is handed over, how it
//! is acknowledged, what is set aside; then all of that at once, and against a model.

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
