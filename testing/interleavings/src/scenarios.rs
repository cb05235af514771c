//! The scenarios, by structure.

pub mod lanes;
pub mod line_registry;
pub mod mark_set;
pub mod memory_budget;
pub mod waits;
pub mod writer_queue;
