//! Connects a Discord bot.

use std::sync::Arc;

use anyhow::Context;
use nightdesk_discord::{ConnectError, DiscordBotSetup};
use nightdesk_port::UnlimitedBudget;
use nightdesk_register::{BotDraft, Register};
use nightdesk_types::{BotId, TenantScope};
use nightdesk_vault::Key;
use serde_json::{Value, json};

use super::super::bots::missing_intents;
use super::{ConnectArgs, is_new, send_test};
use crate::config::Config;
use crate::ui::CommandOutput;

/// The steps to get a token.
pub(super) const STEPS: &str = "\
1. Open https://discord.com/developers/applications: New Application, a name, and then Bot.
2. There, under Privileged Gateway Intents, turn on SERVER MEMBERS and MESSAGE CONTENT.
3. Choose Reset Token. The token is shown once.
4. Under OAuth2, URL Generator, choose bot and applications.commands, and the permissions View Channels,
   Send Messages, Send Messages in Threads, Create Public Threads, Attach Files, Read Message History and Add
   Reactions. Open the generated URL, and add the bot to a server.
5. Paste the token here, and press Enter:";

pub(super) async fn connect(
    config: &Config,
    register: &Register,
    scope: TenantScope,
    connect: &ConnectArgs,
    key: Key,
) -> anyhow::Result<CommandOutput> {
    // No session is begun here: a bot may begin only a limited number in a day.
    let discord = config.discord.adapter(Arc::new(UnlimitedBudget))?;
    let standing = discord.read_bot_setup(&key).await.map_err(|error| explain_error(&error))?;
    is_new(register, scope, nightdesk_discord::NAME, &standing.username).await?;
    let (id, path) = register.create_bot(scope, draft(&standing, key)).await?;
    let (bot, _) = register.bot(id).await?.context("the new bot was removed in the meantime")?;
    let hook = format!("{}/hooks/{path}", config.public_url());
    let mut answer = bot_json(id, &standing, &hook);
    if let Some(chat) = &connect.test_chat {
        answer["test"] = send_test(&discord, &bot, chat).await.into();
    }
    Ok(CommandOutput::One(answer))
}

fn draft(standing: &DiscordBotSetup, key: Key) -> BotDraft {
    let DiscordBotSetup { username, application_id, public_key, .. } = standing;
    BotDraft {
        platform: nightdesk_discord::NAME.to_owned(),
        adapter: nightdesk_discord::NAME.to_owned(),
        handle: username.clone(),
        settings: json!({ "application_id": application_id, "public_key": public_key }),
        key: Some(key),
    }
}

fn bot_json(id: BotId, standing: &DiscordBotSetup, hook: &str) -> Value {
    let mut to_do = missing_intents(standing);
    if standing.interactions_url.as_deref() != Some(hook) {
        to_do.push(format!(
            "for commands and buttons, set Interactions Endpoint URL, under General Information, to {hook}"
        ));
    }
    json!({
        "bot_id": id, "handle": standing.username, "interactions": hook,
        "sessions_left_today": standing.sessions_left, "to_do": to_do,
    })
}

fn explain_error(error: &ConnectError) -> anyhow::Error {
    match error {
        ConnectError::KeyRejected => {
            anyhow::anyhow!("Discord rejects this token; get a new one with Reset Token, under Bot")
        }
        ConnectError::Refused(code) => anyhow::anyhow!("Discord refused the request ({code})"),
        ConnectError::Unavailable(_) => anyhow::anyhow!(
            "Discord did not respond; check discord.api_url, and that this machine can reach it"
        ),
    }
}
