//! Secrets: every key is replaced while the desk serves, and none is found anywhere.
//!
//! One desk, real PostgreSQL. While [`load`] posts, dials and follows up, each kind of key is
//! replaced by the operator's own commands; a request that fails is a failure of the proof. Then
//! everything that leaves the desk is searched for what must not: [`canary`].

pub mod canary;
mod dig;
pub mod load;
pub mod rotate;
mod sink;
mod world;

pub use dig::dig;
pub use world::{Operator, World};
