//! Gate rate: how fast the gate decides, what a no costs, and that nobody is let in by what was
//! true before. Bindings and grants come and go all the while ([`changes`]): beside a gate alone,
//! whose decisions are counted ([`deciding`]), and beside real nodes, whose tables are asked
//! afterwards who was let in though they were out ([`nodes`]).

pub mod changes;
pub mod deciding;
pub mod nodes;
