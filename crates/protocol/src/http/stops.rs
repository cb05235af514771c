//! `/v1/sessions/stop` and `/v1/letters/{id}/stop`: running turns are stopped.

use serde::{Deserialize, Serialize};

/// `POST /v1/sessions/stop`: the session whose turn is stopped.
///
/// A session is named by the agent's own key of it, or by the platform, the chat and in shared chats the person.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = SessionStop))]
pub struct StopSessionRequest {
    /// The agent, by name or id. Without it, the calling agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The agent's own key of the session. Without it, the key follows from the other fields.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_key: Option<String>,
    /// The platform.
    #[serde(default)]
    pub platform: String,
    /// The chat.
    #[serde(default)]
    pub chat_id: String,
    /// The kind of chat: `dm`, `group`, `channel`, `thread` or `forum`. Default: `dm`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chat_type: Option<String>,
    /// The thread in the chat.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<String>,
    /// The person whose session it is, in a shared chat.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_id: Option<String>,
    /// Set the entries of the chat aside that wait for a sleeping agent.
    #[serde(default)]
    pub drop_waiting: bool,
}

/// The response to a stop.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = StopResult))]
pub struct StopResponse {
    /// `stopped`, `not-running`, `delivered` to a client that does not report the result, or `undelivered`.
    pub outcome: String,
    /// The number of waiting entries that were set aside.
    pub dropped: usize,
}
