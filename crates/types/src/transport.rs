//! The transport of a line.

/// The way in which the frames of a line travel between the desk and an agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Transport {
    /// A WebSocket that the agent's gateway keeps open.
    #[default]
    WebSocket,
    /// HTTP requests of the agent, which wait for entries.
    Polling,
    /// HTTP requests of the desk, one for each entry.
    Webhook,
    /// Calls of the desk's MCP tools.
    Mcp,
}

crate::slugs! {
    Transport:
    WebSocket = "websocket",
    Polling = "polling",
    Webhook = "webhook",
    Mcp = "mcp",
}
