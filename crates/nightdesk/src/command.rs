//! Commands: `nightdesk <noun> <verb>`.

mod check;
mod enter;
mod run;

use std::path::PathBuf;

use clap::{Parser, Subcommand};

pub(crate) use run::run;

/// The desk that stays awake while your agents sleep.
#[derive(Debug, Parser)]
#[command(
    version,
    after_help = "Example:\n  nightdesk key new > vault.key\n  nightdesk migrate --config desk.toml\n  nightdesk serve --config desk.toml"
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,

    /// The configuration file.
    #[arg(long, global = true, default_value = "desk.toml", value_name = "FILE")]
    pub(crate) config: PathBuf,

    /// Put the answer out as JSON.
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a node of the desk.
    #[command(after_help = "Example:\n  nightdesk serve --config desk.toml")]
    Serve,
    /// Bring the database up to date.
    #[command(after_help = "Example:\n  nightdesk migrate --config desk.toml")]
    Migrate,
    /// The configuration file.
    #[command(subcommand)]
    Config(Configuration),
    /// Keys of the vault.
    #[command(subcommand)]
    Key(Key),
    /// Customers of the desk.
    #[command(subcommand)]
    Tenant(Tenant),
    /// Programs that take messages.
    #[command(subcommand)]
    Agent(Agent),
    /// Accounts of ours on platforms.
    #[command(subcommand)]
    Bot(Bot),
    /// Who on a platform is whose.
    #[command(subcommand)]
    Binding(Binding),
    /// Chats given to an agent.
    #[command(subcommand)]
    Grant(Grant),
    /// What agents dial in with.
    #[command(subcommand)]
    Gateway(Gateway),
}

#[derive(Debug, Subcommand)]
pub(crate) enum Configuration {
    /// Look whether a node could run with it, and say what to mend.
    #[command(after_help = "Example:\n  nightdesk config check --config desk.toml")]
    Check,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Key {
    /// Put out a new key for the vault's key file.
    #[command(after_help = "Example:\n  nightdesk key new > vault.key && chmod 400 vault.key")]
    New,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Tenant {
    /// Enter a tenant.
    #[command(after_help = "Example:\n  nightdesk tenant create acme")]
    Create {
        /// What it is called.
        name: String,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Agent {
    /// Enter an agent of a tenant.
    #[command(after_help = "Example:\n  nightdesk agent create --tenant 0193… helper")]
    Create {
        /// Whose it is.
        #[arg(long)]
        tenant: String,
        /// What it is called.
        name: String,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Bot {
    /// Enter a bot.
    #[command(
        after_help = "Example:\n  nightdesk bot create --tenant 0193… --platform discord --handle 8812 --key-file bot.key"
    )]
    Create(NewBot),
}

#[derive(Debug, clap::Args)]
pub(crate) struct NewBot {
    /// Who runs it.
    #[arg(long)]
    pub(crate) tenant: String,
    /// The platform's name, as agents are told it.
    #[arg(long)]
    pub(crate) platform: String,
    /// Which adapter speaks for it, if not the one of that name.
    #[arg(long)]
    pub(crate) adapter: Option<String>,
    /// What the platform calls it.
    #[arg(long)]
    pub(crate) handle: String,
    /// The file with the key to its account.
    #[arg(long, value_name = "FILE")]
    pub(crate) key_file: Option<PathBuf>,
    /// What its adapter wants to know besides, as JSON.
    #[arg(long, default_value = "{}", value_name = "JSON")]
    pub(crate) settings: String,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Binding {
    /// Bind a person on a platform to their agent.
    #[command(
        after_help = "Example:\n  nightdesk binding create --tenant 0193… --agent 0193… --bot 0193… --author 4711"
    )]
    Create(Bound),
    /// Take a binding back.
    #[command(
        after_help = "Example:\n  nightdesk binding remove --tenant 0193… --agent 0193… --bot 0193… --author 4711"
    )]
    Remove(Bound),
}

#[derive(Debug, clap::Args)]
pub(crate) struct Bound {
    /// Whose agent it is.
    #[arg(long)]
    pub(crate) tenant: String,
    /// The agent.
    #[arg(long)]
    pub(crate) agent: String,
    /// The bot they meet at.
    #[arg(long)]
    pub(crate) bot: String,
    /// The person, by the platform's id.
    #[arg(long)]
    pub(crate) author: String,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Grant {
    /// Give a chat to an agent.
    #[command(
        after_help = "Example:\n  nightdesk grant create --tenant 0193… --agent 0193… --bot 0193… --chat 99 --open"
    )]
    Create {
        /// Whose agent it is.
        #[arg(long)]
        tenant: String,
        /// The agent.
        #[arg(long)]
        agent: String,
        /// The bot in the chat.
        #[arg(long)]
        bot: String,
        /// The chat, by the platform's id; `*` for every chat of the bot.
        #[arg(long)]
        chat: String,
        /// Let anyone in, not only people bound to the agent.
        #[arg(long)]
        open: bool,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Gateway {
    /// Enter a gateway of an agent, and show its secret once.
    #[command(
        after_help = "Example:\n  nightdesk gateway create --tenant 0193… --agent 0193… --name gw-laptop"
    )]
    Create {
        /// Whose agent it is.
        #[arg(long)]
        tenant: String,
        /// The agent.
        #[arg(long)]
        agent: String,
        /// What the client calls itself: `GATEWAY_RELAY_ID`.
        #[arg(long)]
        name: String,
    },
    /// Give a gateway another secret, and show it once.
    #[command(
        after_help = "Example:\n  nightdesk gateway rotate --tenant 0193… --name gw-laptop --overlap 24h"
    )]
    Rotate {
        /// Whose it is.
        #[arg(long)]
        tenant: String,
        /// Which one.
        #[arg(long)]
        name: String,
        /// For how long the secrets it had stay good: `30s`, `15m`, `24h`.
        #[arg(long, default_value = "24h", value_parser = crate::ui::span)]
        overlap: std::time::Duration,
    },
    /// Revoke a gateway. Its line is closed, and its client will not come back by itself.
    #[command(after_help = "Example:\n  nightdesk gateway revoke --tenant 0193… --name gw-laptop")]
    Revoke {
        /// Whose it is.
        #[arg(long)]
        tenant: String,
        /// Which one.
        #[arg(long)]
        name: String,
    },
}
