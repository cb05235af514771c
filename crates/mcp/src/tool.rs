//! The tools and their parameters.

use std::sync::Arc;

use rmcp::model::{JsonObject, ToolAnnotations};
use serde_json::{Value, json};

/// A tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tool {
    /// Lists the agents that can be written to.
    ListAgents,
    /// Delivers a message.
    Notify,
    /// Wakes an agent.
    Wake,
    /// Delivers a message and waits for the reply.
    Exchange,
    /// Lists the skills.
    SkillList,
    /// Returns a skill.
    SkillRead,
    /// Writes a skill.
    SkillWrite,
    /// Changes the status of a skill.
    SkillStatus,
    /// Searches data.
    DataQuery,
    /// Returns an entry of data.
    DataRead,
    /// Writes an entry of data.
    DataWrite,
    /// Takes entries from the agent's inbox.
    InboxTake,
    /// Acknowledges entries.
    InboxAck,
    /// Answers an order to stop.
    InboxStopped,
    /// Performs an action in a chat.
    Send,
    /// Stops a running turn.
    Stop,
}

nightdesk_types::slugs! {
    Tool:
    ListAgents = "list_agents",
    Notify = "notify",
    Wake = "wake",
    Exchange = "exchange",
    SkillList = "skill_list",
    SkillRead = "skill_read",
    SkillWrite = "skill_write",
    SkillStatus = "skill_status",
    DataQuery = "data_query",
    DataRead = "data_read",
    DataWrite = "data_write",
    InboxTake = "inbox_take",
    InboxAck = "inbox_ack",
    InboxStopped = "inbox_stopped",
    Send = "send",
    Stop = "stop",
}

impl Tool {
    /// Returns the tool's description for the agent that selects a tool.
    const fn description(self) -> &'static str {
        match self {
            Self::ListAgents => "Lists the agents you can write to, and whether each is up.",
            Self::Notify => {
                "Sends a message to an agent. The desk stores it until the agent acknowledges it, even while the agent sleeps. \
                 With @session in the address, the message wakes the agent."
            }
            Self::Wake => {
                "Wakes an agent with a message, now or at a time. woken in the result is true if it is up."
            }
            Self::Exchange => "Sends a message to an agent and waits for its reply.",
            Self::SkillList => {
                "Lists skills. With if_none_match the result is not_modified if nothing changed for this filter."
            }
            Self::SkillRead => "Reads a skill, or one of its older versions.",
            Self::SkillWrite => {
                "Writes a skill. An existing skill is replaced only with overwrite; the same text again changes nothing."
            }
            Self::SkillStatus => "Moves a skill to Draft, Approved or Disabled.",
            Self::DataQuery => {
                "Searches data by words. An unsupported filter is an error, unless permissive_filters is true."
            }
            Self::DataRead => "Reads an entry of data; null if there is none.",
            Self::DataWrite => {
                "Writes an entry of data. The same entry again writes nothing and returns the first."
            }
            Self::InboxTake => {
                "Returns messages that wait for you, each with a bufferId, and a line for the next call. Call it \
                 without line first. Acknowledge every message that you have handled."
            }
            Self::InboxAck => {
                "Acknowledges messages by their bufferId, so that the desk does not deliver them again."
            }
            Self::InboxStopped => {
                "Answers an interrupt_inbound frame of inbox_take that has a stop_id: stopped is true if you were at work in \
                 that session and stop."
            }
            Self::Stop => {
                "Stops the running turn of a session, yours or that of another agent if you may. The session is named by \
                 session_key, or by platform and chat_id."
            }
            Self::Send => {
                "Performs an action in a chat, such as op send with chat_id and content. The same request_id again does \
                 nothing and returns the first result."
            }
        }
    }

    /// Returns the required parameters.
    const fn required(self) -> &'static [&'static str] {
        match self {
            Self::ListAgents | Self::SkillList | Self::InboxTake | Self::Stop => &[],
            Self::Notify | Self::Exchange => &["agent", "message"],
            Self::Wake => &["agent"],
            Self::SkillRead => &["name"],
            Self::SkillWrite => &["name", "source"],
            Self::SkillStatus => &["name", "new_state"],
            Self::DataQuery => &["query"],
            Self::DataRead => &["id"],
            Self::DataWrite => &["content"],
            Self::InboxStopped => &["line", "stop_id", "stopped"],
            // Agents that the desk calls by webhook have no name of their line.
            Self::InboxAck => &["buffer_ids"],
            Self::Send => &["request_id", "action"],
        }
    }

    /// Returns the schema of all parameters.
    fn properties(self) -> Value {
        let text = || json!({ "type": "string" });
        let texts = || json!({ "type": "array", "items": { "type": "string" } });
        let agent = || json!({ "type": "string", "description": "a name or an id, optionally with @session" });
        let dispatch_id =
            || json!({ "type": "string", "description": "a repeated id means the same letter" });
        let status = || json!({ "enum": ["Draft", "Approved", "Disabled"] });
        match self {
            Self::ListAgents => json!({}),
            Self::Notify => json!({
                "agent": agent(), "message": text(), "kind": { "enum": ["augment", "template"] },
                "event_type": text(), "correlation_id": text(), "dispatch_id": dispatch_id(),
                "connectors": texts(),
            }),
            Self::Wake => json!({
                "agent": agent(), "message": text(), "session_id": text(), "dispatch_id": dispatch_id(),
                "when": { "type": ["string", "integer"], "description": "immediate, or a time in milliseconds" },
                "interrupt": { "type": "boolean", "description": "stop its turn on your newest letter first" },
            }),
            Self::Exchange => json!({
                "agent": agent(), "message": text(), "correlation_id": text(), "dispatch_id": dispatch_id(),
                "timeout_ms": { "type": "integer", "minimum": 1, "maximum": 300_000 },
            }),
            Self::SkillList => json!({
                "filter": {
                    "type": "object",
                    "properties": {
                        "audience": { "enum": ["agent", "all", "headless"] }, "status": status(),
                        "trigger_kind": { "enum": ["cron", "event"] }, "domain_tags": texts(),
                        "name_prefix": text(), "author": text(),
                    },
                },
                "if_none_match": text(),
            }),
            Self::SkillRead => json!({ "name": text(), "version": text() }),
            Self::SkillWrite => {
                json!({ "name": text(), "source": text(), "overwrite": { "type": "boolean" } })
            }
            Self::SkillStatus => json!({ "name": text(), "new_state": status() }),
            Self::DataQuery => json!({
                "query": text(), "mode": text(), "limit": { "type": "integer", "minimum": 1 },
                "permissive_filters": { "type": "boolean" },
            }),
            Self::DataRead => json!({ "id": text() }),
            Self::DataWrite => json!({
                "content": text(), "tags": texts(), "recipients": texts(),
                "expires_at": { "type": ["integer", "null"], "description": "seconds since 1970; null: never" },
                "metadata": { "type": "object" },
            }),
            Self::InboxTake => json!({
                "line": text(), "wait_seconds": { "type": "integer", "minimum": 0, "maximum": 55 },
            }),
            Self::InboxAck => json!({ "line": text(), "buffer_ids": texts() }),
            Self::InboxStopped => {
                json!({ "line": text(), "stop_id": text(), "stopped": { "type": "boolean" } })
            }
            Self::Stop => json!({
                "agent": text(), "session_key": text(), "platform": text(), "chat_id": text(),
                "chat_type": { "enum": ["dm", "group", "channel", "thread", "forum"] },
                "thread_id": text(), "user_id": text(),
                "drop_waiting": { "type": "boolean", "description": "set entries aside that wait while it sleeps" },
            }),
            Self::Send => json!({
                "line": text(), "request_id": text(), "platform": text(), "bot_id": text(),
                "action": { "type": "object", "properties": { "op": text() }, "required": ["op"] },
            }),
        }
    }

    /// Returns true if the tool changes nothing.
    const fn is_reading(self) -> bool {
        match self {
            Self::ListAgents
            | Self::SkillList
            | Self::SkillRead
            | Self::DataQuery
            | Self::DataRead => true,
            Self::Notify
            | Self::Wake
            | Self::Exchange
            | Self::SkillWrite
            | Self::SkillStatus
            | Self::DataWrite
            | Self::InboxTake
            | Self::InboxAck
            | Self::InboxStopped
            | Self::Stop
            | Self::Send => false,
        }
    }

    /// Returns the MCP description of the tool.
    pub(crate) fn to_mcp(self) -> rmcp::model::Tool {
        let mut schema = JsonObject::new();
        schema.insert("type".to_owned(), json!("object"));
        schema.insert("properties".to_owned(), self.properties());
        schema.insert("required".to_owned(), json!(self.required()));
        let hints = ToolAnnotations::new()
            .read_only(self.is_reading())
            .destructive(false)
            .idempotent(true)
            .open_world(false);
        rmcp::model::Tool::new(self.slug(), self.description(), Arc::new(schema))
            .with_annotations(hints)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_is_found_by_its_name_and_wants_only_what_it_names() {
        for tool in Tool::ALL {
            assert_eq!(Tool::from_slug(tool.slug()), Some(tool));
            let properties = tool.properties();
            for required in tool.required() {
                assert!(properties.get(required).is_some(), "{required} of {}", tool.slug());
            }
        }
        assert_eq!(Tool::from_slug("shell"), None);
    }
}
