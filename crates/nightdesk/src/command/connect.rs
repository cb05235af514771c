//! `bot connect`: enters a bot after its platform was asked about it, and says what is left to do.

use std::path::PathBuf;

use anyhow::{Context, bail};
use nightdesk_register::{BotDraft, Register};
use nightdesk_telegram::{ConnectError, Standing, Telegram};
use nightdesk_types::BotId;
use nightdesk_vault::Key;
use serde_json::{Value, json};

use super::names;
use crate::config::{Config, password};
use crate::ui::Answer;

/// Which bot is connected, and how its updates come.
#[derive(Debug, clap::Args)]
pub(crate) struct Connect {
    /// Who runs it.
    #[arg(long)]
    tenant: String,
    /// The platform: `telegram`.
    #[arg(long)]
    platform: String,
    /// The file with the token that the platform gave you.
    #[arg(long, value_name = "FILE")]
    key_file: PathBuf,
    /// Have the platform post to `listen.public_url`, which it must be able to reach. Otherwise the desk asks
    /// it for what was said.
    #[arg(long)]
    webhook: bool,
}

pub(super) async fn run(
    config: &Config,
    register: &Register,
    connect: Connect,
) -> anyhow::Result<Answer> {
    if connect.platform != nightdesk_telegram::NAME {
        bail!("{} is not one that can be connected; `telegram` is", connect.platform);
    }
    let scope = names::tenant(register, &connect.tenant).await?;
    let key = password(Some(&connect.key_file))?.map(Key::new).context("the file holds no key")?;
    let telegram = config.telegram.adapter()?;
    let standing = telegram.standing(&key).await;
    let standing = standing.map_err(|error| in_words(&error))?;
    let draft = draft(&standing, &connect, key);
    let (id, path) = register.create_bot(scope, draft).await?;
    let hook = format!("{}/hooks/{path}", config.public_url());
    let hook = connect.webhook.then_some(hook);
    told(&telegram, register, id, hook.as_deref()).await?;
    Ok(Answer::One(answer(id, &standing, hook.as_deref())))
}

fn draft(standing: &Standing, connect: &Connect, key: Key) -> BotDraft {
    let updates = if connect.webhook { "webhook" } else { "poll" };
    BotDraft {
        platform: nightdesk_telegram::NAME.to_owned(),
        adapter: nightdesk_telegram::NAME.to_owned(),
        handle: standing.username.clone(),
        settings: json!({ "updates": updates }),
        key: Some(key),
    }
}

/// Tells Telegram where updates go. A webhook that somebody else has set ends with it.
async fn told(
    telegram: &Telegram,
    register: &Register,
    id: BotId,
    hook: Option<&str>,
) -> anyhow::Result<()> {
    let (bot, _) = register.bot(id).await?.context("the bot was just entered, and is gone")?;
    let told = match hook {
        Some(hook) => telegram.post_updates_to(&bot, hook).await,
        None => telegram.keep_updates(&bot).await,
    };
    told.map_err(|error| in_words(&error))
        .with_context(|| format!("bot {id} is entered, and Telegram was not told where to"))
}

/// Has Telegram show the secret that follows from a bot's new key.
pub(super) async fn told_again(
    config: &Config,
    register: &Register,
    id: BotId,
) -> anyhow::Result<()> {
    let Some((bot, adapter)) = register.bot(id).await? else { return Ok(()) };
    let (is_posted, key) = (bot.settings["updates"] == "webhook", bot.key.as_ref());
    let Some(key) = key.filter(|_| adapter == nightdesk_telegram::NAME && is_posted) else {
        return Ok(());
    };
    let telegram = config.telegram.adapter()?;
    let standing = telegram.standing(key).await.map_err(|error| in_words(&error));
    let standing = standing.context("the key is replaced, and Telegram was not told")?;
    let hook = standing.webhook.context("the key is replaced, and the bot has no webhook")?;
    let told = telegram.post_updates_to(&bot, &hook).await.map_err(|error| in_words(&error));
    told.context("the key is replaced, and Telegram was not told")
}

fn answer(id: BotId, standing: &Standing, hook: Option<&str>) -> Value {
    let Standing { username, hears_all, webhook, pending, last_error: _ } = standing;
    let mut answer = json!({
        "bot_id": id, "handle": username, "updates": hook.unwrap_or("asked for"),
        "hears": if *hears_all { "everything in groups" } else { "what is said to it in groups" },
        "waiting": pending,
    });
    if let Some(webhook) = webhook.as_deref().filter(|webhook| Some(*webhook) != hook) {
        answer["webhook_ended"] = webhook.into();
    }
    answer
}

fn in_words(error: &ConnectError) -> anyhow::Error {
    match error {
        ConnectError::KeyRejected => anyhow::anyhow!(
            "Telegram does not take this token; `/token` at @BotFather shows the one that is good"
        ),
        ConnectError::Refused(code) => anyhow::anyhow!(
            "Telegram said no ({code}); a webhook needs a public https address as listen.public_url"
        ),
        ConnectError::Unavailable(_) => anyhow::anyhow!(
            "Telegram did not answer; can this machine reach telegram.api_url, and is it right?"
        ),
    }
}
