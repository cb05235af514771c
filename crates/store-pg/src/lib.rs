//! Store-pg: every port's store in PostgreSQL, and all SQL of the project.
//!
//! # Promise
//!
//! What a method reports as done is committed and on disk. A method that fails has done
//! nothing, or its outcome is found by the key it carried. Nothing here can touch a tenant it
//! was not given: row-level security stands behind every statement.
//!
//! Begin with [`access`](crate::Pg) for how statements are run, then read one file per port.
//! What must be fast or must lock in one order is a function in `migrations/`.

mod access;
mod migrate;
mod row;
mod register;
mod vault;
mod gate;
mod inbox;
mod upkeep;
mod lines;
mod media;
mod wake;
mod schedule;
mod shelf;
mod courier;
mod egress;
mod lease;
mod webchat;

pub use access::{Pg, UrlError, connect_options};
pub use migrate::{MigrateError, migrate};
