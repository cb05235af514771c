//! Connects a Discord bot.

use std::sync::Arc;

use anyhow::Context;
use nightdesk_discord::{ConnectError, Standing};
use nightdesk_port::Unlimited;
use nightdesk_register::{BotDraft, Register};
use nightdesk_types::{BotId, TenantScope};
use nightdesk_vault::Key;
use serde_json::{Value, json};

use super::super::bots::missing_intents;
use super::{Connect, is_new, tested};
use crate::config::Config;
use crate::ui::Answer;

/// The steps to get a token.
pub(super) const STEPS: &str = "\
1. Open https://discord.com/developers/applications: New Application, a name, and then Bot.
2. There, under Privileged Gateway Intents, turn on SERVER MEMBERS and MESSAGE CONTENT.
3. Reset Token shows a token, once.
4. Under OAuth2, URL Generator, choose bot and applications.commands, and of the permissions View Channels,
   Send Messages, Send Messages in Threads, Create Public Threads, Attach Files, Read Message History and Add
   Reactions. Open the URL that it makes, and add the bot to a server.
5. Put the token in here, and press enter:";

pub(super) async fn connect(
    config: &Config,
    register: &Register,
    scope: TenantScope,
    connect: &Connect,
    key: Key,
) -> anyhow::Result<Answer> {
    // No session is begun here: a bot may begin only a limited number in a day.
    let discord = config.discord.adapter(Arc::new(Unlimited))?;
    let standing = discord.standing(&key).await.map_err(|error| in_words(&error))?;
    is_new(register, scope, nightdesk_discord::NAME, &standing.username).await?;
    let (id, path) = register.create_bot(scope, draft(&standing, key)).await?;
    let (bot, _) = register.bot(id).await?.context("the bot was just entered, and is gone")?;
    let hook = format!("{}/hooks/{path}", config.public_url());
    let mut answer = answer(id, &standing, &hook);
    if let Some(chat) = &connect.test_chat {
        answer["test"] = tested(&discord, &bot, chat).await.into();
    }
    Ok(Answer::One(answer))
}

fn draft(standing: &Standing, key: Key) -> BotDraft {
    let Standing { username, application_id, public_key, .. } = standing;
    BotDraft {
        platform: nightdesk_discord::NAME.to_owned(),
        adapter: nightdesk_discord::NAME.to_owned(),
        handle: username.clone(),
        settings: json!({ "application_id": application_id, "public_key": public_key }),
        key: Some(key),
    }
}

fn answer(id: BotId, standing: &Standing, hook: &str) -> Value {
    let mut to_do = missing_intents(standing);
    if standing.interactions_url.as_deref() != Some(hook) {
        to_do.push(format!(
            "for commands and buttons, put {hook} into Interactions Endpoint URL, under General Information"
        ));
    }
    json!({
        "bot_id": id, "handle": standing.username, "interactions": hook,
        "sessions_left_today": standing.sessions_left, "to_do": to_do,
    })
}

fn in_words(error: &ConnectError) -> anyhow::Error {
    match error {
        ConnectError::KeyRejected => anyhow::anyhow!(
            "Discord does not take this token; Reset Token, under Bot, shows one that is good"
        ),
        ConnectError::Refused(code) => anyhow::anyhow!("Discord said no ({code})"),
        ConnectError::Unavailable(_) => anyhow::anyhow!(
            "Discord did not answer; can this machine reach discord.api_url, and is it right?"
        ),
    }
}
