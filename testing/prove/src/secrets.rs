//! Proves that every key can be replaced while the desk serves, and that none is found anywhere.
//!
//! It uses one desk and real PostgreSQL. While [`load`] posts, dials and follows up, each kind of key is replaced with
//! the operator's own commands. A failed request fails the proof. [`messages`] writes messages
//! of further kinds. Then [`canary`] searches everything that leaves the desk for keys and texts.

pub mod canary;
mod dig;
pub mod load;
pub mod messages;
pub mod rotate;
mod sink;
mod world;

pub use dig::dig;
pub use world::{Operator, World};
