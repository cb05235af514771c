//! Commands: `nightdesk <noun> <verb>`.

mod audit;
mod check;
mod dev;
mod enter;
mod gateway;
mod inbox;
mod list;
mod names;
mod quota;
mod run;
mod verify;
mod wake;

use std::path::PathBuf;

use clap::{Parser, Subcommand};

pub(crate) use audit::Audit;
pub(crate) use gateway::Gateway;
pub(crate) use inbox::Inbox;
pub(crate) use run::run;
pub(crate) use verify::Verify;
pub(crate) use wake::Wake;

use names::Whose;
use nightdesk_types::Quota;

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
    /// Run a whole desk to try: its own PostgreSQL, a web chat, an agent that echoes.
    #[command(after_help = "Example:\n  nightdesk dev --listen 127.0.0.1:8800")]
    Dev {
        /// Where it listens.
        #[arg(long, default_value = "127.0.0.1:8800", value_name = "ADDRESS")]
        listen: std::net::SocketAddr,
    },
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
    /// What waits for an agent, and what was set aside.
    #[command(subcommand)]
    Inbox(Inbox),
    /// Agents that sleep, and how they are called.
    #[command(subcommand)]
    Wake(Wake),
    /// What a tenant was told.
    #[command(subcommand)]
    Notice(Notice),
    /// What was done, by whom and about what.
    #[command(subcommand)]
    Audit(Audit),
    /// Prove that something works, step by step, or say what to mend.
    #[command(after_help = "Example:\n  nightdesk verify --tenant acme --wake helper")]
    Verify(Verify),
}

#[derive(Debug, Subcommand)]
pub(crate) enum Notice {
    /// List what a tenant was told lately about its agents, newest first.
    #[command(after_help = "Example:\n  nightdesk notice list --tenant acme")]
    List {
        /// Who was told, by name or id.
        #[arg(long)]
        tenant: String,
    },
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
    /// List the tenants.
    #[command(after_help = "Example:\n  nightdesk tenant list --json")]
    List(Page),
    /// Say how much a tenant may have, or show it. It counts at once.
    #[command(after_help = "Example:\n  nightdesk tenant quota --tenant acme agents=100")]
    Quota {
        /// Whose it is, by name or id.
        #[arg(long)]
        tenant: String,
        /// What, and how much of it: `agents`, `grants`, `pending-entries`, `pending-bytes`.
        #[arg(value_name = "QUOTA=NUMBER", value_parser = quota::parse)]
        quotas: Vec<(Quota, i64)>,
    },
}

/// Which page of a list.
#[derive(Debug, clap::Args)]
pub(crate) struct Page {
    /// Begin after this name: the last one of the page before.
    #[arg(long, default_value = "", value_name = "NAME", hide_default_value = true)]
    pub(crate) after: String,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Agent {
    /// Enter an agent of a tenant.
    #[command(after_help = "Example:\n  nightdesk agent create --tenant acme helper")]
    Create {
        /// Whose it is, by name or id.
        #[arg(long)]
        tenant: String,
        /// What it is called.
        name: String,
    },
    /// List the agents of a tenant.
    #[command(after_help = "Example:\n  nightdesk agent list --tenant acme")]
    List {
        /// Whose they are, by name or id.
        #[arg(long)]
        tenant: String,
        #[command(flatten)]
        page: Page,
    },
    /// Say where an agent is called when something waits for it, or show where that is.
    #[command(
        name = "wake-url",
        after_help = "Example:\n  nightdesk agent wake-url --tenant acme --agent helper https://agents.example/helper/wake"
    )]
    WakeUrl {
        #[command(flatten)]
        whose: Whose,
        /// The URLs, in the order they are tried. Without any, they are shown.
        #[arg(value_name = "URL")]
        urls: Vec<String>,
        /// Call it nowhere any more.
        #[arg(long, conflicts_with = "urls")]
        clear: bool,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Bot {
    /// Enter a bot.
    #[command(
        after_help = "Example:\n  nightdesk bot create --tenant acme --platform discord --handle 8812 --key-file bot.key"
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
    /// The file with the key to its account. A `webchat` bot without one gets a random key.
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
        after_help = "Example:\n  nightdesk binding create --tenant acme --agent helper --bot 0193… --author 4711"
    )]
    Create(Bound),
    /// Take a binding back.
    #[command(
        after_help = "Example:\n  nightdesk binding remove --tenant acme --agent helper --bot 0193… --author 4711"
    )]
    Remove(Bound),
}

#[derive(Debug, clap::Args)]
pub(crate) struct Bound {
    #[command(flatten)]
    pub(crate) whose: Whose,
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
        after_help = "Example:\n  nightdesk grant create --tenant acme --agent helper --bot 0193… --chat 99 --open"
    )]
    Create {
        #[command(flatten)]
        whose: Whose,
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
