//! The desk as a server of tools, for agents that speak MCP.
//!
//! # Promise
//!
//! Who calls is who was proven to call, whatever a call says of it. A tool that failed is an error of the protocol and
//! never a result: there are clients that take every result for success. The answer is the last thing that is said to a
//! call, as an event of a stream: there are clients that read nothing else.
//!
//! Begin with [`Tool`], what can be called. [`Server`] is one for every node: there are no sessions, so whichever node is
//! asked can answer.

mod server;
mod tool;

pub use server::{Answer, Call, Failed, Server, Tools};
pub use tool::Tool;
