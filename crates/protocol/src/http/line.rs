//! `/v1/line/…`: a line over HTTP requests.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::hello::ClientVersion;

/// `POST /v1/line/take`: the next frames of a line, or a new line.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = LineTake))]
pub struct TakeRequest {
    /// The line, as the newest response named it. Without it, a new line opens and becomes the agent's newest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<String>,
    /// The longest time to wait for a frame, at most 55 seconds. Default: 25.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait_seconds: Option<u64>,
    /// The bots for which the agent sends on a new line. Without it, all bots of the agent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hellos: Vec<LineHello>,
    /// The client that opens a new line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<serde_json::Value>))]
    pub client: Option<ClientVersion>,
}

/// A bot for which an agent sends.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LineHello {
    /// The platform.
    pub platform: String,
    /// The platform's id of the bot. Empty: every bot of the agent there.
    #[serde(default, rename = "botId")]
    pub bot_id: String,
}

/// The frames of a line that the agent does not have yet.
#[derive(Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = LineTaken))]
pub struct TakeResponse {
    /// The line, for the next request.
    pub line: String,
    /// The descriptors of a line that was opened by this request.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<serde_json::Value>))]
    pub descriptors: Vec<Box<RawValue>>,
    /// Frames as on a WebSocket: entries, and requests to stop a turn.
    #[cfg_attr(feature = "openapi", schema(value_type = Vec<serde_json::Value>))]
    pub frames: Vec<Box<RawValue>>,
}

/// `POST /v1/line/ack`: entries that need not come again.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = LineAck))]
pub struct AckRequest {
    /// The line. Without it, the line on which the desk posts entries to the agent's webhook.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<String>,
    /// The entries' `bufferId`, at most 64.
    pub buffer_ids: Vec<String>,
}

/// `POST /v1/line/send`: an action of the agent.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = LineSend))]
pub struct SendRequest {
    /// The line. Without it, the line on which the desk posts entries to the agent's webhook; it opens if the agent has
    /// none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<String>,
    /// An id that is unique for the agent over a day. A repeat gets the stored result.
    pub request_id: String,
    /// The platform, if several bots could send.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub platform: Option<String>,
    /// The platform's id of the bot, if several bots could send.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bot_id: Option<String>,
    /// The action, as in an `outbound` frame.
    #[cfg_attr(feature = "openapi", schema(value_type = serde_json::Value))]
    pub action: Box<RawValue>,
}

/// `POST /v1/line/sessions`: the live sessions of the agent.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = LineSessions))]
pub struct SessionsRequest {
    /// The line.
    pub line: String,
    /// The names of all live sessions, at most 64. Letters address them as `agent@session`.
    pub sessions: Vec<String>,
}

/// `POST /v1/line/stopped`: the answer to an order to stop a turn.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = LineStopped))]
pub struct StoppedRequest {
    /// The line.
    pub line: String,
    /// The `stop_id` of the order.
    pub stop_id: String,
    /// True if a turn of the session ran and stops.
    pub stopped: bool,
}

/// `POST /v1/line/idle`: the agent sleeps.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "openapi", schema(as = LineIdle))]
pub struct IdleRequest {
    /// The line.
    pub line: String,
}
