//! Real PostgreSQL and Redis for one run, gone afterwards.
//!
//! Both are started from the installed binaries, on free loopback ports, in a folder of their own
//! under the system's temporary folder.
//!
//! # Promise
//!
//! When the process that started a server ends, in whatever way, the server ends too and its
//! folder is removed. Dropping the value does the same, and waits for it.
//!
//! Begin reading at [`Postgres::start`]; what keeps the promise is in `folder.rs`.

mod postgres;
mod redis;
mod binaries;
mod owner;
mod process;
mod folder;

pub use self::postgres::{Durability, Options, Postgres};
pub use self::redis::Redis;
