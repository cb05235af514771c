//! The platforms that the stock client knows. It treats every other as `relay`.

use super::Part;

/// Returns the platform name that a client uses for a source.
pub(super) fn client_platform(platform: &Part<'_>) -> &'static str {
    let name = platform.as_text().unwrap_or_default();
    let name = super::whatsapp::strip_like_python(name).to_lowercase();
    KNOWN.into_iter().find(|known| *known == name).unwrap_or("relay")
}

/// Returns true if the stock client has an own name for a platform. It treats every other as `relay`.
pub fn is_known_to_stock_clients(platform: &str) -> bool {
    client_platform(&Part::text(platform)) != "relay"
}

/// The platforms built into 0.19.0, and those that come with it as plugins.
const KNOWN: [&str; 32] = [
    "local",
    "telegram",
    "discord",
    "whatsapp",
    "whatsapp_cloud",
    "slack",
    "signal",
    "mattermost",
    "matrix",
    "homeassistant",
    "email",
    "sms",
    "dingtalk",
    "api_server",
    "webhook",
    "msgraph_webhook",
    "feishu",
    "wecom",
    "wecom_callback",
    "weixin",
    "bluebubbles",
    "qqbot",
    "yuanbao",
    "relay",
    "google_chat",
    "irc",
    "line",
    "ntfy",
    "photon",
    "raft",
    "simplex",
    "teams",
];
