//! Connects a Telegram bot.

use anyhow::Context;
use nightdesk_port::Bot;
use nightdesk_register::{BotDraft, Register};
use nightdesk_telegram::{ConnectError, Telegram, TelegramBotSetup, is_posted_to};
use nightdesk_types::{BotId, TenantScope};
use nightdesk_vault::Key;
use serde_json::{Value, json};

use super::{ConnectArgs, is_new, send_test};
use crate::config::Config;
use crate::ui::CommandOutput;

/// The steps to get a token.
pub(super) const STEPS: &str = "\
1. Write to @BotFather on Telegram: /newbot, a name, a username. It replies with a token, 123456:ABC…
2. If agents are to receive all messages in groups, send it /setprivacy, the bot, Disable.
3. Paste the token here, and press Enter:";

pub(super) async fn connect(
    config: &Config,
    register: &Register,
    scope: TenantScope,
    connect: &ConnectArgs,
    key: Key,
) -> anyhow::Result<CommandOutput> {
    let telegram = config.telegram.adapter()?;
    let standing = telegram.read_bot_setup(&key).await;
    let standing = standing.map_err(|error| explain_error(&error))?;
    is_new(register, scope, nightdesk_telegram::NAME, &standing.username).await?;
    let (id, path) = register.create_bot(scope, draft(&standing, connect, key)).await?;
    let (bot, _) = register.bot(id).await?.context("the new bot was removed in the meantime")?;
    let hook = format!("{}/hooks/{path}", config.public_url());
    let hook = connect.webhook.then_some(hook);
    set_webhook(&telegram, &bot, hook.as_deref()).await.with_context(|| {
        format!(
            "bot {id} was created, but Telegram does not deliver its updates; fix the cause below, and \
                 set it again with `nightdesk bot rotate-key`"
        )
    })?;
    let mut answer = bot_json(id, &standing, hook.as_deref());
    if let Some(chat) = &connect.test_chat {
        answer["test"] = send_test(&telegram, &bot, chat).await.into();
    }
    Ok(CommandOutput::One(answer))
}

fn draft(standing: &TelegramBotSetup, connect: &ConnectArgs, key: Key) -> BotDraft {
    let updates = if connect.webhook { "webhook" } else { "poll" };
    BotDraft {
        platform: nightdesk_telegram::NAME.to_owned(),
        adapter: nightdesk_telegram::NAME.to_owned(),
        handle: standing.username.clone(),
        settings: json!({ "updates": updates }),
        key: Some(key),
    }
}

/// Tells Telegram where updates go. This replaces any other webhook of the bot.
async fn set_webhook(telegram: &Telegram, bot: &Bot, hook: Option<&str>) -> anyhow::Result<()> {
    let told = match hook {
        Some(hook) => telegram.set_webhook(bot, hook).await,
        None => telegram.delete_webhook(bot).await,
    };
    told.map_err(|error| explain_error(&error))
}

/// Tells Telegram again where a bot's updates go, with the secret that is derived from its key.
pub(super) async fn set_webhook_again(
    config: &Config,
    bot: &Bot,
    path: &str,
) -> anyhow::Result<()> {
    let hook = is_posted_to(bot).then(|| format!("{}/hooks/{path}", config.public_url()));
    set_webhook(&config.telegram.adapter()?, bot, hook.as_deref()).await
}

fn bot_json(id: BotId, standing: &TelegramBotSetup, hook: Option<&str>) -> Value {
    let TelegramBotSetup { username, hears_all, webhook, pending, last_error: _ } = standing;
    let mut answer = json!({
        "bot_id": id, "handle": username, "updates": hook.unwrap_or("polled"),
        "hears": if *hears_all { "all messages in groups" } else { "messages to it in groups" },
        "waiting": pending,
    });
    if let Some(webhook) = webhook.as_deref().filter(|webhook| Some(*webhook) != hook) {
        answer["webhook_ended"] = webhook.into();
    }
    answer
}

fn explain_error(error: &ConnectError) -> anyhow::Error {
    match error {
        ConnectError::KeyRejected => anyhow::anyhow!(
            "Telegram rejects this token; send `/token` to @BotFather to get the valid one"
        ),
        ConnectError::Refused(code) => anyhow::anyhow!(
            "Telegram refused it ({code}); a webhook needs a public https address as listen.public_url"
        ),
        ConnectError::Unavailable(_) => anyhow::anyhow!(
            "Telegram did not respond; check telegram.api_url, and that this machine can reach it"
        ),
    }
}
