//! Measures how fast the gate decides and what a refusal costs, and proves that no stale state admits an event.
//! Bindings and grants change throughout ([`changes`]): beside a gate alone, whose decisions are counted
//! ([`deciding`]), and beside real nodes, whose tables show afterwards if an author was let in without access
//! ([`nodes`]).

pub mod changes;
pub mod deciding;
pub mod nodes;
