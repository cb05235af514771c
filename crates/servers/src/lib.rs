//! Starts a temporary PostgreSQL and Redis for one run.
//!
//! Both are started from the installed binaries, on free loopback ports, in a separate folder under the system's
//! temporary folder.
//!
//! # Promise
//!
//! When the process that started a server ends in any way, the server ends too and its folder is removed. Dropping the
//! value does the same, and waits for it.
//!
//! Begin with [`Postgres::start`]; `folder.rs` implements the promise.

mod postgres;
mod redis;
mod binaries;
mod owner;
mod process;
mod folder;

pub use self::postgres::{Durability, Options, Postgres};
pub use self::redis::Redis;
