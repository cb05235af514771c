//! The desk as an MCP server of tools for agents.
//!
//! # Promise
//!
//! The caller is the authenticated one; no argument of a call changes it. A failed tool is a protocol error and never a
//! result: there are clients that take every result for success. The response is the last message of a call, as an
//! event of a stream: there are clients that read nothing else.
//!
//! Begin with [`Tool`], the list of tools. Every node has a [`Server`]: there are no sessions, so any node can answer.

mod server;
mod tool;

pub use server::{Server, ToolCall, ToolError, ToolResponse, Tools};
pub use tool::Tool;
