//! Reads a bot's configuration at Discord, for the bot's operator.

use nightdesk_kit::ConnectError;
use nightdesk_vault::Key;
use serde::Deserialize;

use crate::Discord;
use crate::api::ApiCall;
use crate::id::Id;

/// Application flags of the members intent: granted, or granted while the application is small.
const MEMBERS: u64 = 1 << 14 | 1 << 15;

/// Application flags of the message content intent: granted, or granted while the application is small.
const TEXT: u64 = 1 << 18 | 1 << 19;

/// A bot's configuration at Discord.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiscordBotSetup {
    /// The username by which people mention the bot.
    pub username: String,
    /// The bot's application: `application_id` in its settings.
    pub application_id: String,
    /// The key that signs its interactions: `public_key` in its settings.
    pub public_key: String,
    /// True if the bot receives the members of a server. Without them no person counts as seeing a channel.
    pub hears_members: bool,
    /// True if the bot receives the text of messages that do not mention it.
    pub hears_text: bool,
    /// The webhook URL of its interactions, if one is set.
    pub interactions_url: Option<String>,
    /// Number of sessions that the bot may still begin today.
    pub sessions_left: u64,
}

#[derive(Deserialize)]
struct CurrentUser {
    username: String,
}

#[derive(Deserialize)]
struct Application {
    id: Id,
    verify_key: String,
    #[serde(default)]
    flags: u64,
    interactions_endpoint_url: Option<String>,
}

#[derive(Deserialize)]
struct GatewayLimits {
    session_start_limit: SessionStartLimit,
}

#[derive(Deserialize)]
struct SessionStartLimit {
    remaining: u64,
}

impl Discord {
    /// Returns the configuration of the bot with this key.
    pub async fn read_bot_setup(&self, key: &Key) -> Result<DiscordBotSetup, ConnectError> {
        let get = |path: &str| ApiCall::get(path.to_owned());
        let me: CurrentUser = self.api.call(key, get("users/@me")).await?;
        let application: Application = self.api.call(key, get("applications/@me")).await?;
        let gateway: GatewayLimits = self.api.call(key, get("gateway/bot")).await?;
        Ok(DiscordBotSetup {
            username: me.username,
            application_id: application.id.to_string(),
            public_key: application.verify_key,
            hears_members: application.flags & MEMBERS != 0,
            hears_text: application.flags & TEXT != 0,
            interactions_url: application.interactions_endpoint_url,
            sessions_left: gateway.session_start_limit.remaining,
        })
    }
}

#[cfg(test)]
mod tests {
    use nightdesk_fake_discord::{FakeDiscord, Fault, Kind};

    use super::*;
    use crate::tests::{TOKEN, discord_at};

    #[tokio::test]
    async fn a_bot_stands_as_discord_says() {
        let fake = FakeDiscord::start().await;
        let discord = discord_at(&fake.url());
        let key = Key::new(TOKEN.to_owned());
        let strange = discord.read_bot_setup(&key).await;
        assert!(matches!(strange, Err(ConnectError::KeyRejected)), "{strange:?}");

        fake.bot(TOKEN, 4242, "desk");
        fake.starts_left(TOKEN, 7);
        let standing = discord.read_bot_setup(&key).await.unwrap();
        assert_eq!(standing.username, "desk");
        assert_eq!(standing.application_id, "4242");
        assert_eq!(standing.public_key, fake.public_key(TOKEN));
        assert_eq!(standing.sessions_left, 7);
        fake.fault(Fault::at("GET /users/@me", 1, Kind::HangUp));
        let away = discord.read_bot_setup(&key).await;
        assert!(matches!(away, Err(ConnectError::Unavailable(_))), "{away:?}");
    }
}
