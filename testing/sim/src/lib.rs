//! Simulates several nodes, their database and bus, platforms and gateways, on one thread and in simulated time.
//!
//! # Promise
//!
//! A seed determines everything that happens: the same seed on the same commit produces the same histories, byte for
//! byte. Only the desk's environment is simulated; the stops are the real ones, and so are HTTP and the WebSocket of
//! the lines.
//!
//! Begin with [`plan`], which generates the events, then [`drive`]; [`node`] assembles a node.

pub mod plan;
pub mod drive;
pub mod world;
pub mod cast;
pub mod node;
pub mod store;
pub mod bus;
pub mod platform;
mod http;
pub mod feed;
pub mod gateway;
pub mod faults;
pub mod notes;
pub mod time;
pub mod chance;
