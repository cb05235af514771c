//! `bot connect`: enters a bot after its platform was asked about it, tells the platform where its
//! updates go, and says what is left to do.

use std::io::BufRead as _;
use std::path::PathBuf;

use anyhow::{Context, bail};
use nightdesk_register::Register;
use nightdesk_types::{BotId, TenantScope};
use nightdesk_vault::Key;

use super::names;
use crate::config::{Config, password};
use crate::ui::{self, Answer};

mod telegram;

/// Which bot is connected, and how its updates come.
#[derive(Debug, clap::Args)]
pub(crate) struct Connect {
    /// The platform: `telegram`.
    platform: String,
    /// Who runs it, by name or id.
    #[arg(long)]
    tenant: String,
    /// The file with the token that the platform gave you. Without it, you are told how to come by one, and
    /// asked for it.
    #[arg(long, value_name = "FILE")]
    key_file: Option<PathBuf>,
    /// Have the platform post to `listen.public_url`, which it must be able to reach. Otherwise the desk asks
    /// it for what was said.
    #[arg(long)]
    webhook: bool,
    /// Write a test message to this chat, by the platform's id.
    #[arg(long, value_name = "CHAT")]
    test_chat: Option<String>,
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
    let key = key(&connect, telegram::STEPS)?;
    telegram::connect(config, register, scope, (&connect, key)).await
}

/// The token: from its file, or from who sits there.
fn key(connect: &Connect, steps: &str) -> anyhow::Result<Key> {
    if connect.key_file.is_some() {
        let key = password(connect.key_file.as_deref())?;
        return key.map(Key::new).context("the file holds no token");
    }
    ui::say(steps);
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line).context("could not read the token")?;
    let key = line.trim();
    if key.is_empty() {
        bail!("no token was given; --key-file names a file that holds it");
    }
    Ok(Key::new(key.to_owned()))
}

/// Tells a platform anew where a bot's updates go: the secret that goes with them may follow from its key.
pub(super) async fn told_again(
    config: &Config,
    register: &Register,
    scope: TenantScope,
    id: BotId,
) -> anyhow::Result<()> {
    match (register.bot(id).await?, register.store().hook_path(scope, id).await?) {
        (Some((bot, adapter)), Some(path)) if adapter == nightdesk_telegram::NAME => {
            let told = telegram::told_again(config, &bot, &path).await;
            told.context("the key is replaced, and Telegram was not told")
        }
        _ => Ok(()),
    }
}
