//! `bot connect`: creates a bot from its platform's data. The desk tells the platform where its updates go, and lists the
//! remaining steps.

use std::io::BufRead as _;
use std::path::PathBuf;

use anyhow::{Context, bail};
use serde_json::json;

use super::bots::read_key;
use crate::desk_client::{ApiRequest, DeskClient};
use crate::ui::{self, CommandOutput};

/// The steps to get a token of Discord.
const DISCORD_STEPS: &str = "\
1. Open https://discord.com/developers/applications: New Application, a name, and then Bot.
2. There, under Privileged Gateway Intents, turn on SERVER MEMBERS and MESSAGE CONTENT.
3. Choose Reset Token. The token is shown once.
4. Under OAuth2, URL Generator, choose bot and applications.commands, and the permissions View Channels,
   Send Messages, Send Messages in Threads, Create Public Threads, Attach Files, Read Message History and Add
   Reactions. Open the generated URL, and add the bot to a server.
5. Paste the token here, and press Enter:";

/// The steps to get a token of Telegram.
const TELEGRAM_STEPS: &str = "\
1. Write to @BotFather on Telegram: /newbot, a name, a username. It replies with a token, 123456:ABC…
2. If agents are to receive all messages in groups, send it /setprivacy, the bot, Disable.
3. Paste the token here, and press Enter:";

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

pub(super) async fn run(desk: &DeskClient, args: ConnectArgs) -> anyhow::Result<CommandOutput> {
    let steps = match args.platform.as_str() {
        nightdesk_discord::NAME => DISCORD_STEPS,
        nightdesk_telegram::NAME => TELEGRAM_STEPS,
        other => bail!("{other} cannot be connected; use `discord` or `telegram`"),
    };
    let key = match &args.key_file {
        Some(file) => read_key(file)?,
        None => prompt_for_key(steps)?,
    };
    let body = json!({
        "platform": args.platform, "key": key, "webhook": args.webhook,
        "test_chat": args.test_chat,
    });
    let request = ApiRequest::post(&["tenants", &args.tenant, "bots", "connect"]).with_body(body);
    Ok(CommandOutput::One(desk.call(request).await?))
}

/// Shows the steps to get a token, and reads the token.
fn prompt_for_key(steps: &str) -> anyhow::Result<String> {
    ui::print_text(steps);
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line).context("could not read the token")?;
    let key = line.trim();
    if key.is_empty() {
        bail!("no token was entered; enter it, or name a file that contains it with --key-file");
    }
    Ok(key.to_owned())
}
