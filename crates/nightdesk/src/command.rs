//! Commands: `nightdesk <noun> <verb>`.

mod audit;
mod bots;
mod check;
mod connect;
mod data;
mod dev;
mod enter;
mod explain;
mod gateway;
mod inbox;
mod issuer;
mod keys;
mod letter;
mod list;
pub(crate) mod names;
mod quota;
mod reach;
mod run;
mod schedule;
mod skill;
mod verify;
mod wake;

use std::path::PathBuf;

use clap::{Parser, Subcommand};

pub(crate) use audit::Audit;
pub(crate) use data::Data;
pub(crate) use explain::Explain;
pub(crate) use gateway::Gateway;
pub(crate) use inbox::Inbox;
pub(crate) use issuer::Issuer;
pub(crate) use letter::Letter;
pub(crate) use reach::{Binding, Grant, Link};
pub(crate) use run::run;
pub(crate) use schedule::Schedule;
pub(crate) use skill::Skill;
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
    /// Codes by which people say which agent is theirs.
    #[command(subcommand)]
    Link(Link),
    /// Who on a platform is whose.
    #[command(subcommand)]
    Binding(Binding),
    /// Chats given to an agent.
    #[command(subcommand)]
    Grant(Grant),
    /// What agents dial in with.
    #[command(subcommand)]
    Gateway(Gateway),
    /// Who vouches for machines.
    #[command(subcommand)]
    Issuer(Issuer),
    /// What waits for an agent, and what was set aside.
    #[command(subcommand)]
    Inbox(Inbox),
    /// Agents that sleep, and how they are called.
    #[command(subcommand)]
    Wake(Wake),
    /// Jobs of agents: when they are due, and how it went.
    #[command(subcommand)]
    Schedule(Schedule),
    /// Skills that agents share: what they say, whose they are, and whether they may be run.
    #[command(subcommand)]
    Skill(Skill),
    /// Data that agents share.
    #[command(subcommand)]
    Data(Data),
    /// Letters: what agents send to each other.
    #[command(subcommand)]
    Letter(Letter),
    /// What a tenant was told.
    #[command(subcommand)]
    Notice(Notice),
    /// What was done, by whom and about what.
    #[command(subcommand)]
    Audit(Audit),
    /// Say what became of an event and why, or what would.
    #[command(
        after_help = "Example:\n  nightdesk explain --tenant acme 0193…-7\n  nightdesk explain --dry-run --bot 0193… --author 4711 --chat 99"
    )]
    Explain(Explain),
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
    /// Wrap everything with the vault's newest key, so that the older ones are not needed any more.
    #[command(after_help = "Example:\n  nightdesk key rotate --config desk.toml")]
    Rotate,
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
    /// Give a tenant another data key, and seal its secrets with it.
    #[command(name = "rotate-key", after_help = "Example:\n  nightdesk tenant rotate-key acme")]
    RotateKey {
        /// Which one, by name or id.
        name: String,
    },
    /// Erase a tenant for good: its keys, its bots, its gateways, and what was written.
    #[command(after_help = "Example:\n  nightdesk tenant erase acme --yes")]
    Erase {
        /// Which one, by name or id.
        name: String,
        /// Do it. It cannot be undone.
        #[arg(long)]
        yes: bool,
    },
    /// Let the secrets of a tenant's gateways widen whom their agents can be reached by, or take that back.
    #[command(
        name = "trust-gateways",
        after_help = "Example:\n  nightdesk tenant trust-gateways --tenant acme"
    )]
    TrustGateways {
        /// Whose gateways, by name or id.
        #[arg(long)]
        tenant: String,
        /// Take it back: they may narrow it alone, as they may at first.
        #[arg(long)]
        stop: bool,
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
    /// Show whom an agent can be reached by, or say to whom it is open where it was granted something.
    #[command(
        after_help = "Example:\n  nightdesk agent reach --tenant acme --agent helper\n  nightdesk agent reach --tenant acme --agent helper --open-to allow-list"
    )]
    Reach {
        #[command(flatten)]
        whose: Whose,
        /// `owner-only`, `allow-list` or `any`. Without it, its reach is shown.
        #[arg(long, value_name = "PRINCIPAL", value_parser = reach::principal)]
        open_to: Option<nightdesk_types::Principal>,
    },
    /// Take everything from an agent by which it can be reached or dial in.
    #[command(after_help = "Example:\n  nightdesk agent deprovision --tenant acme --agent helper")]
    Deprovision {
        #[command(flatten)]
        whose: Whose,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Bot {
    /// Enter a bot.
    #[command(
        after_help = "Example:\n  nightdesk bot create --tenant acme --platform discord --handle 8812 --key-file bot.key"
    )]
    Create(NewBot),
    /// Enter a bot after its platform was asked about it, and tell the platform where to.
    #[command(
        after_help = "Example:\n  nightdesk bot connect telegram --tenant acme --key-file bot.key"
    )]
    Connect(connect::Connect),
    /// Give a bot another key. What is signed with the one it had is believed for a while.
    #[command(
        name = "rotate-key",
        after_help = "Example:\n  nightdesk bot rotate-key --tenant acme --bot 0193… --key-file bot.key"
    )]
    RotateKey(keys::Rotated),
    /// List the bots on which agents of a tenant may be linked, its own and those that others share, and how well
    /// its own hear.
    #[command(after_help = "Example:\n  nightdesk bot list --tenant acme")]
    List {
        /// Whose agents, by name or id.
        #[arg(long)]
        tenant: String,
    },
    /// Ask a bot's platform how it stands with it, and say what is wrong and what to do. Fails if anything is.
    #[command(after_help = "Example:\n  nightdesk bot check --tenant acme --bot 0193…")]
    Check(bots::Which),
    /// Remove a bot, with its key and with whatever people and agents have on it.
    #[command(after_help = "Example:\n  nightdesk bot remove --tenant acme --bot 0193… --yes")]
    Remove {
        #[command(flatten)]
        which: bots::Which,
        /// Do it. It cannot be undone.
        #[arg(long)]
        yes: bool,
    },
    /// Let agents of other tenants be linked on a bot, or take that back. Who is linked stays so.
    #[command(after_help = "Example:\n  nightdesk bot share --tenant acme --bot 0193…")]
    Share {
        /// Who runs it, by name or id.
        #[arg(long)]
        tenant: String,
        /// Which one.
        #[arg(long)]
        bot: String,
        /// Take it back.
        #[arg(long)]
        stop: bool,
    },
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
