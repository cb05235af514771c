//! A platform's own request, forwarded to the agent without its credentials.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use nightdesk_types::event::{Passthrough, Source};
use nightdesk_types::limits::FRAME_OUT_BYTES_MAX;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::tolerant;

/// A forwarded request, as the SDK receives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Forward {
    /// The platform's name.
    pub platform: String,
    /// The platform's name of the bot.
    pub bot_handle: String,
    /// The agent's profile that the request is for.
    pub profile: Option<String>,
    /// The request.
    pub request: Passthrough,
}

/// A forwarded request as it is sent.
#[derive(Serialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub(crate) struct WireForward<'a> {
    platform: &'a str,
    #[serde(rename = "botId")]
    bot_handle: &'a str,
    method: &'a str,
    path: &'a str,
    headers: &'a [(String, String)],
    #[serde(rename = "bodyB64")]
    body: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    profile: Option<&'a str>,
}

impl<'a> WireForward<'a> {
    pub(crate) fn from_request(
        source: &'a Source,
        bot_handle: &'a str,
        request: &'a Passthrough,
    ) -> Self {
        Self {
            platform: &source.platform,
            bot_handle,
            method: &request.method,
            path: &request.path,
            headers: &request.headers,
            body: STANDARD.encode(&request.body),
            profile: source.profile.as_deref(),
        }
    }
}

/// A forwarded request as the SDK receives it.
#[derive(Deserialize)]
pub(crate) struct RawForward {
    #[serde(default, deserialize_with = "tolerant::text_or_empty")]
    platform: String,
    #[serde(rename = "botId", default, deserialize_with = "tolerant::text_or_empty")]
    bot_handle: String,
    #[serde(default, deserialize_with = "tolerant::text_or_empty")]
    method: String,
    #[serde(default, deserialize_with = "tolerant::text_or_empty")]
    path: String,
    #[serde(default, deserialize_with = "tolerant::values::<_, FRAME_OUT_BYTES_MAX>")]
    headers: Option<Vec<Value>>,
    #[serde(rename = "bodyB64", default, deserialize_with = "tolerant::text_or_empty")]
    body: String,
    #[serde(default, deserialize_with = "tolerant::text")]
    profile: Option<String>,
}

impl From<RawForward> for Forward {
    fn from(raw: RawForward) -> Self {
        let headers = raw.headers.unwrap_or_default().into_iter();
        let headers = headers.filter_map(|pair| serde_json::from_value(pair).ok()).collect();
        // A body that is not base64 is read as empty, as in the stock client.
        let body = STANDARD.decode(raw.body).unwrap_or_default();
        let request = Passthrough { method: raw.method, path: raw.path, headers, body };
        let RawForward { platform, bot_handle, profile, .. } = raw;
        Self { platform, bot_handle, profile, request }
    }
}
