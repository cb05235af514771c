//! Telegram, as the operator of a bot sets it up.

use async_trait::async_trait;
use nightdesk_office::{
    OfficeError, PlatformAccount, PlatformFindings, PlatformSetup, UpdateDelivery,
};
use nightdesk_port::Bot;
use nightdesk_telegram::{ConnectError, Telegram, TelegramBotSetup, is_posted_to};
use nightdesk_vault::Key;
use serde_json::{Value, json};

use super::NO_TOKEN;

/// Reads the setups of bots at Telegram, and sets their webhooks.
pub(super) struct TelegramSetup(pub(super) Telegram);

nightdesk_types::opaque_debug!(TelegramSetup);

impl TelegramSetup {
    async fn read(&self, key: Option<&Key>) -> Result<TelegramBotSetup, OfficeError> {
        let key = key.ok_or_else(|| OfficeError::Conflict(NO_TOKEN.to_owned()))?;
        self.0.read_bot_setup(key).await.map_err(|error| connect_refusal(&error))
    }
}

#[async_trait]
impl PlatformSetup for TelegramSetup {
    async fn find_account(
        &self,
        token: &Key,
        updates: UpdateDelivery,
    ) -> Result<PlatformAccount, OfficeError> {
        let way = match updates {
            UpdateDelivery::Fetched => "poll",
            UpdateDelivery::Posted => "webhook",
        };
        let handle = self.read(Some(token)).await?.username;
        Ok(PlatformAccount { handle, settings: json!({ "updates": way }) })
    }

    async fn connect(&self, bot: &Bot, hook: &str) -> Result<Value, OfficeError> {
        let standing = self.read(bot.key.as_ref()).await?;
        self.direct_updates(bot, hook).await?;
        Ok(connected_json(&standing, is_posted_to(bot).then_some(hook)))
    }

    /// This replaces any other webhook of the bot.
    async fn direct_updates(&self, bot: &Bot, hook: &str) -> Result<(), OfficeError> {
        let told = if is_posted_to(bot) {
            self.0.set_webhook(bot, hook).await
        } else {
            self.0.delete_webhook(bot).await
        };
        told.map_err(|error| connect_refusal(&error))
    }

    async fn end_updates(&self, bot: &Bot) -> Option<String> {
        if !is_posted_to(bot) {
            return None;
        }
        Some(match self.0.delete_webhook(bot).await {
            Ok(()) => "the webhook was removed".to_owned(),
            Err(error) => format!("the webhook was not removed: {}", error_text(&error)),
        })
    }

    async fn check_bot(&self, bot: &Bot, hook: &str) -> PlatformFindings {
        let Some(key) = &bot.key else { return PlatformFindings::unread(NO_TOKEN) };
        match self.0.read_bot_setup(key).await {
            Ok(standing) => PlatformFindings {
                says: standing_json(&standing),
                wrong: standing_faults(&standing, is_posted_to(bot).then_some(hook)),
            },
            Err(error) => PlatformFindings::unread(error_text(&error)),
        }
    }
}

fn connected_json(standing: &TelegramBotSetup, hook: Option<&str>) -> Value {
    let TelegramBotSetup { hears_all, webhook, pending, .. } = standing;
    let mut answer = json!({
        "updates": hook.unwrap_or("polled"),
        "hears": if *hears_all { "all messages in groups" } else { "messages to it in groups" },
        "waiting": pending,
    });
    if let Some(webhook) = webhook.as_deref().filter(|webhook| Some(*webhook) != hook) {
        answer["webhook_ended"] = webhook.into();
    }
    answer
}

fn standing_json(standing: &TelegramBotSetup) -> Value {
    let TelegramBotSetup { username, hears_all, webhook, pending, last_error } = standing;
    json!({
        "username": username, "hears_all_in_groups": hears_all, "webhook": webhook,
        "waiting": pending, "last_error": last_error,
    })
}

/// Returns the faults of the delivery of updates: to this address, or to none.
fn standing_faults(standing: &TelegramBotSetup, hook: Option<&str>) -> Vec<String> {
    let mend = "run `nightdesk bot rotate-key` with its token to set it again";
    let TelegramBotSetup { webhook, pending, last_error, .. } = standing;
    match (hook, webhook.as_deref(), last_error) {
        (None, Some(_), _) => vec![format!(
            "the desk polls for updates, but Telegram posts them to a webhook; {mend}"
        )],
        (Some(_), None, _) => vec![format!("Telegram has no webhook for the updates; {mend}")],
        (Some(hook), Some(webhook), _) if hook != webhook => vec![format!(
            "Telegram posts updates to an address other than listen.public_url; {mend}"
        )],
        (Some(_), Some(_), Some(error)) if *pending > 0 => vec![format!(
            "Telegram could not post {pending} updates ({error}); check that listen.public_url can be \
             reached from outside, with a certificate that Telegram trusts"
        )],
        (None, None, _) | (Some(_), Some(_), _) => Vec::new(),
    }
}

fn connect_refusal(error: &ConnectError) -> OfficeError {
    match error {
        ConnectError::KeyRejected => OfficeError::Invalid(
            "Telegram rejects this token; send `/token` to @BotFather to get the valid one"
                .to_owned(),
        ),
        ConnectError::Refused(code) => OfficeError::Conflict(format!(
            "Telegram refused it ({code}); a webhook needs a public https address as listen.public_url"
        )),
        ConnectError::Unavailable(_) => OfficeError::Unavailable(error_text(error)),
    }
}

fn error_text(error: &ConnectError) -> String {
    match error {
        ConnectError::KeyRejected => {
            "Telegram rejects the token; send `/token` to @BotFather to get the valid one, and set it with \
             `nightdesk bot rotate-key`"
        }
        ConnectError::Refused(_) | ConnectError::Unavailable(_) => {
            "Telegram did not respond; check telegram.api_url, and that the desk can reach it"
        }
    }
    .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_is_told_in_words() {
        let plain = TelegramBotSetup {
            username: "desk_bot".to_owned(),
            hears_all: false,
            webhook: None,
            pending: 0,
            last_error: None,
        };
        let at = |url: &str| TelegramBotSetup { webhook: Some(url.to_owned()), ..plain.clone() };
        let failing =
            TelegramBotSetup { pending: 3, last_error: Some("timed out".to_owned()), ..at("ours") };
        let cases = [
            ("asked for", &plain, None, ""),
            ("asked for, and posted", &at("theirs"), None, "posts them to a webhook"),
            ("posted", &at("ours"), Some("ours"), ""),
            ("posted nowhere", &plain, Some("ours"), "no webhook"),
            ("posted elsewhere", &at("theirs"), Some("ours"), "an address other than"),
            ("not taken", &failing, Some("ours"), "3 updates (timed out)"),
            ("taken since", &TelegramBotSetup { pending: 0, ..failing.clone() }, Some("ours"), ""),
        ];
        for (name, standing, hook, want) in cases {
            let said = standing_faults(standing, hook).concat();
            assert!(said.contains(want) && said.is_empty() == want.is_empty(), "{name}: {said}");
        }
    }
}
