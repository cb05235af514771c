//! Commands about bots: the desk's accounts on platforms.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, ensure};
use clap::Args;
use nightdesk_types::limits::BOT_KEY_OVERLAP_MAX;
use serde_json::{Value, json};

use super::{BotSubcommand, NewBotArgs, connect};
use crate::config::secret_file::password;
use crate::desk_client::{ApiRequest, DeskClient};
use crate::ui::CommandOutput;

/// The members of a bot in a list.
const BOT_COLUMNS: &[&str] = &["bot_id", "platform", "handle", "own", "hears"];

/// A bot of an operator.
#[derive(Debug, Args)]
pub(crate) struct BotArgs {
    /// The tenant that runs the bot, by name or id.
    #[arg(long)]
    tenant: String,
    /// The bot's id.
    #[arg(long)]
    bot: String,
}

impl BotArgs {
    /// Returns the path of a route of the bot.
    fn path<'a>(&'a self, rest: &[&'a str]) -> Vec<&'a str> {
        [&["tenants", &self.tenant, "bots", &self.bot][..], rest].concat()
    }
}

/// A bot and its new key.
#[derive(Debug, Args)]
pub(crate) struct BotKeyRotation {
    #[command(flatten)]
    which: BotArgs,
    /// The file with its new key.
    #[arg(long, value_name = "FILE")]
    key_file: PathBuf,
    /// The time that signatures with its earlier keys stay valid: `15m`, at most `24h`.
    #[arg(long, default_value = "24h", value_parser = crate::ui::span)]
    overlap: Duration,
}

/// Runs a command about bots.
pub(super) async fn run(
    desk: &DeskClient,
    command: BotSubcommand,
) -> anyhow::Result<CommandOutput> {
    match command {
        BotSubcommand::Create(new) => create_bot(desk, new).await,
        BotSubcommand::Connect(args) => connect::run(desk, args).await,
        BotSubcommand::RotateKey(rotation) => rotate_key(desk, rotation).await,
        BotSubcommand::List { tenant } => {
            desk.list(ApiRequest::get(&["tenants", &tenant, "bots"]), BOT_COLUMNS).await
        }
        BotSubcommand::Check(which) => {
            let data = desk.call(ApiRequest::get(&which.path(&["check"]))).await?;
            let wrong = data["wrong"].as_array().map_or(0, Vec::len);
            Ok(CommandOutput::Checked { data, wrong })
        }
        BotSubcommand::Remove { which, yes } => remove_bot(desk, &which, yes).await,
        BotSubcommand::Share { tenant, bot, stop } => {
            let request = ApiRequest::put(&["tenants", &tenant, "bots", &bot, "share"]);
            let request = request.with_body(json!({ "shared": !stop }));
            Ok(CommandOutput::One(desk.call(request).await?))
        }
    }
}

async fn create_bot(desk: &DeskClient, new: NewBotArgs) -> anyhow::Result<CommandOutput> {
    let settings: Value = serde_json::from_str(&new.settings).context("--settings is not JSON")?;
    let body = json!({
        "platform": new.platform, "adapter": new.adapter, "handle": new.handle,
        "key": password(new.key_file.as_deref())?, "settings": settings,
    });
    let request = ApiRequest::post(&["tenants", &new.tenant, "bots"]).with_body(body);
    Ok(CommandOutput::One(desk.call(request).await?))
}

async fn rotate_key(desk: &DeskClient, rotation: BotKeyRotation) -> anyhow::Result<CommandOutput> {
    let BotKeyRotation { which, key_file, overlap } = rotation;
    ensure!(overlap <= BOT_KEY_OVERLAP_MAX, "--overlap must be at most 24h");
    let body = json!({ "key": read_key(&key_file)?, "overlap_secs": overlap.as_secs() });
    let request = ApiRequest::post(&which.path(&["rotate-key"])).with_body(body);
    Ok(CommandOutput::One(desk.call(request).await?))
}

/// Reads a bot's key from its file.
pub(super) fn read_key(file: &Path) -> anyhow::Result<String> {
    let key = password(Some(file))?.filter(|key| !key.is_empty());
    key.with_context(|| format!("the file {} contains no key", file.display()))
}

async fn remove_bot(
    desk: &DeskClient,
    which: &BotArgs,
    yes: bool,
) -> anyhow::Result<CommandOutput> {
    ensure!(
        yes,
        "bot {} would be removed, with its key and with all bindings and grants on it, and this \
         cannot be undone; repeat the command with --yes to confirm",
        which.bot
    );
    Ok(CommandOutput::One(desk.call(ApiRequest::delete(&which.path(&[]))).await?))
}
