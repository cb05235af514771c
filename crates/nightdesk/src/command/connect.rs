//! `bot connect`: creates a bot from its platform's data, tells the platform where its updates go, and lists the
//! remaining steps.

use std::io::BufRead as _;
use std::path::PathBuf;

use anyhow::{Context, bail, ensure};
use nightdesk_port::{Bot, Deliver, DeliverError};
use nightdesk_register::{OpenBot, Register};
use nightdesk_types::send::Op;
use nightdesk_types::{BotId, Send, TenantScope};
use nightdesk_vault::Key;
use serde_json::Map;

use super::names;
use crate::config::Config;
use crate::config::secret_file::password;
use crate::ui::{self, CommandOutput};

mod discord;
mod telegram;

/// The bot to connect, and the way of its updates.
#[derive(Debug, clap::Args)]
pub(crate) struct ConnectArgs {
    /// The platform: `discord` or `telegram`.
    platform: String,
    /// The tenant that runs the bot, by name or id.
    #[arg(long)]
    tenant: String,
    /// The file with the platform's token. Without it, the command shows the steps to get a token and prompts for it.
    #[arg(long, value_name = "FILE")]
    key_file: Option<PathBuf>,
    /// Have the platform post to `listen.public_url`, which it must be able to reach. Otherwise the desk fetches the
    /// updates.
    #[arg(long)]
    webhook: bool,
    /// Write a test message to this chat, by the platform's id.
    #[arg(long, value_name = "CHAT", allow_hyphen_values = true)]
    test_chat: Option<String>,
}

pub(super) async fn run(
    config: &Config,
    register: &Register,
    connect: ConnectArgs,
) -> anyhow::Result<CommandOutput> {
    let scope = names::tenant(register, &connect.tenant).await?;
    match connect.platform.as_str() {
        nightdesk_discord::NAME => {
            ensure!(!connect.webhook, "Discord sends events over a socket; leave --webhook out");
            let key = key(&connect, discord::STEPS)?;
            discord::connect(config, register, scope, &connect, key).await
        }
        nightdesk_telegram::NAME => {
            let key = key(&connect, telegram::STEPS)?;
            telegram::connect(config, register, scope, &connect, key).await
        }
        other => bail!("{other} cannot be connected; use `discord` or `telegram`"),
    }
}

/// Fails if the bot already exists: it needs another command then.
async fn is_new(
    register: &Register,
    scope: TenantScope,
    platform: &str,
    handle: &str,
) -> anyhow::Result<()> {
    let open = register.store().open_bots(scope).await?;
    let same = |bot: &&OpenBot| bot.is_own && bot.platform == platform && bot.handle == handle;
    let Some(OpenBot { id, handle, .. }) = open.iter().find(same) else { return Ok(()) };
    bail!(
        "@{handle} exists already, as bot {id}; `nightdesk bot check` shows its state, and \
         `nightdesk bot rotate-key` gives it another token"
    )
}

/// The text of the test message.
const TEST: &str = "This bot is connected.";

/// Writes to a chat. The bot is connected in either case, so an error is reported and the command succeeds.
async fn send_test(platform: &dyn Deliver, bot: &Bot, chat: &str) -> String {
    let op = Op::Send { content: TEST.to_owned(), reply_to: None };
    let send = Send { chat_id: chat.to_owned(), op, metadata: Map::new() };
    match platform.deliver(bot, &send).await {
        Ok(_) => format!("the test message to chat {chat} was sent"),
        Err(DeliverError::Refused { platform_code }) => format!(
            "the test message to chat {chat} was not sent ({platform_code}); add the bot to the chat, \
             or write to the bot there first"
        ),
        Err(error) => format!("the test message to chat {chat} was not sent: {error}"),
    }
}

/// Reads the token from its file, or prompts for it.
fn key(connect: &ConnectArgs, steps: &str) -> anyhow::Result<Key> {
    if connect.key_file.is_some() {
        let key = password(connect.key_file.as_deref())?;
        return key.map(Key::new).context("the file contains no token");
    }
    ui::print_text(steps);
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line).context("could not read the token")?;
    let key = line.trim();
    if key.is_empty() {
        bail!("no token was entered; enter it, or name a file that contains it with --key-file");
    }
    Ok(Key::new(key.to_owned()))
}

/// Tells a platform again where a bot's updates go: their secret may be derived from the bot's key.
pub(super) async fn set_webhook_again(
    config: &Config,
    register: &Register,
    scope: TenantScope,
    id: BotId,
) -> anyhow::Result<()> {
    match (register.bot(id).await?, register.store().hook_path(scope, id).await?) {
        (Some((bot, adapter)), Some(path)) if adapter == nightdesk_telegram::NAME => {
            let told = telegram::set_webhook_again(config, &bot, &path).await;
            told.context(
                "the key was replaced, but Telegram could not be updated; repeat the command",
            )
        }
        _ => Ok(()),
    }
}
