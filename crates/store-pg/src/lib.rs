//! Implements every port's store in PostgreSQL, and contains all SQL of the project.
//!
//! # Promise
//!
//! A result that a method reports as done is committed and on disk. A method that fails has done nothing, or its
//! outcome can be found by the key it carried. No method can access a tenant that it was not given: row-level security
//! checks every statement.
//!
//! [`access`](crate::Pg) has the connections, and `operation` runs the statements; each port has its own file. Code that
//! must be fast or must lock in one order is a function in `migrations/`.

#[macro_use]
mod operation;
mod access;
mod bodies;
mod lookup;
mod durability;
mod history;
mod migrate;
mod row;
mod server_state;
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
mod letters;
mod egress;
mod lease;
mod webchat;
mod users;
mod alerts;
mod office;

pub use access::{Pg, UrlError, connect_options};
pub use durability::{DurabilityFault, DurabilitySettings, Replication};
pub use migrate::{MigrateError, migrate};
pub use server_state::{LogArchive, LoginRights, StoredDay};
