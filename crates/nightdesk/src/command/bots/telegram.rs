//! Checks a bot's state at Telegram and names the fixes.

use nightdesk_port::Bot;
use nightdesk_telegram::{ConnectError, TelegramBotSetup, is_posted_to};
use serde_json::{Value, json};

use crate::config::Config;

/// Queries Telegram about a bot whose updates it may post to this address. Returns the state and the faults.
pub(super) async fn check_bot(
    config: &Config,
    bot: &Bot,
    hook: &str,
) -> anyhow::Result<(Value, Vec<String>)> {
    let Some(key) = &bot.key else {
        return Ok((
            Value::Null,
            vec!["the bot has no token; set one with `nightdesk bot rotate-key`".to_owned()],
        ));
    };
    Ok(match config.telegram.adapter()?.read_bot_setup(key).await {
        Ok(standing) => (
            standing_json(&standing),
            standing_faults(&standing, is_posted_to(bot).then_some(hook)),
        ),
        Err(error) => (Value::Null, vec![error_text(&error)]),
    })
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

fn error_text(error: &ConnectError) -> String {
    match error {
        ConnectError::KeyRejected => {
            "Telegram rejects the token; send `/token` to @BotFather to get the valid one, and set it with \
             `nightdesk bot rotate-key`"
        }
        ConnectError::Refused(_) | ConnectError::Unavailable(_) => {
            "Telegram did not respond; check telegram.api_url, and that this machine can reach it"
        }
    }
    .to_owned()
}

/// Stops Telegram from posting. Returns the result as a text: the bot is removed in either case.
pub(super) async fn remove_webhook(config: &Config, bot: &Bot) -> String {
    let told = match config.telegram.adapter() {
        Ok(telegram) => telegram.delete_webhook(bot).await.map_err(|error| error_text(&error)),
        Err(error) => Err(error.to_string()),
    };
    match told {
        Ok(()) => "the webhook was removed".to_owned(),
        Err(words) => format!("the webhook was not removed: {words}"),
    }
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
