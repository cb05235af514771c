//! Reads a bot's configuration at Telegram, and sets its webhook.

use async_trait::async_trait;
use nightdesk_kit::ConnectError;
use nightdesk_port::{Bot, ListenError, WebhookProbe, WebhookStatus};
use nightdesk_types::Timestamp;
use nightdesk_vault::Key;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::listen::{KINDS, listen_error};
use crate::{Telegram, webhook_secret};

/// Maximum parallel webhook requests of one bot.
const POSTS_AT_ONCE: u32 = 40;

/// A bot's configuration at Telegram.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TelegramBotSetup {
    /// The username by which people mention the bot.
    pub username: String,
    /// True if the bot receives all messages in groups, not only those addressed to it.
    pub hears_all: bool,
    /// The webhook URL of its updates, if one is set.
    pub webhook: Option<String>,
    /// Number of updates that are not delivered yet.
    pub pending: u64,
    /// The last webhook error, in Telegram's words.
    pub last_error: Option<String>,
}

#[derive(Deserialize)]
struct BotUser {
    username: String,
    #[serde(default)]
    can_read_all_group_messages: bool,
}

#[derive(Deserialize)]
struct WebhookInfo {
    url: String,
    #[serde(default)]
    pending_update_count: u64,
    last_error_message: Option<String>,
    last_error_date: Option<i64>,
}

#[async_trait]
impl WebhookProbe for Telegram {
    async fn probe(&self, bot: &Bot) -> Result<WebhookStatus, ListenError> {
        let info = self.api.call(bot.key.as_ref(), "getWebhookInfo", &json!({})).await;
        let info: WebhookInfo = info.map_err(listen_error)?;
        if info.url.is_empty() {
            return Err(ListenError::Elsewhere);
        }
        let failed_at = info.last_error_date.and_then(|at| Timestamp::from_second(at).ok());
        let since = |at| self.clock.now().duration_since(at).try_into().unwrap_or_default();
        Ok(WebhookStatus { waiting: info.pending_update_count, failed_ago: failed_at.map(since) })
    }
}

impl Telegram {
    /// Returns the configuration of the bot with this key.
    pub async fn read_bot_setup(&self, key: &Key) -> Result<TelegramBotSetup, ConnectError> {
        let (key, nothing) = (Some(key), json!({}));
        let me: BotUser = self.api.call(key, "getMe", &nothing).await?;
        let info: WebhookInfo = self.api.call(key, "getWebhookInfo", &nothing).await?;
        Ok(TelegramBotSetup {
            username: me.username,
            hears_all: me.can_read_all_group_messages,
            webhook: Some(info.url).filter(|url| !url.is_empty()),
            pending: info.pending_update_count,
            last_error: info.last_error_message,
        })
    }

    /// Sets the bot's webhook, with its secret.
    pub async fn set_webhook(&self, bot: &Bot, url: &str) -> Result<(), ConnectError> {
        let secret = webhook_secret(bot).ok_or(ConnectError::KeyRejected)?;
        let asked = json!({
            "url": url, "secret_token": secret.with(str::to_owned), "allowed_updates": KINDS,
            "max_connections": POSTS_AT_ONCE,
        });
        self.call_method(bot, "setWebhook", &asked).await
    }

    /// Removes the bot's webhook, so that updates wait until they are requested. Pending updates remain.
    pub async fn delete_webhook(&self, bot: &Bot) -> Result<(), ConnectError> {
        self.call_method(bot, "deleteWebhook", &json!({})).await
    }

    async fn call_method(
        &self,
        bot: &Bot,
        method: &str,
        asked: &Value,
    ) -> Result<(), ConnectError> {
        self.api.call::<Value>(bot.key.as_ref(), method, asked).await?;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
