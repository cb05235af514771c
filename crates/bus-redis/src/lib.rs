//! The bell between nodes, over Redis.
