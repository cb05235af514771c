//! The command line: `nightdesk <noun> <verb>`.

mod alert;
mod audit;
mod bots;
mod check;
mod conformance;
mod connect;
mod data;
mod dev;
mod dispatch;
mod doctor;
mod explain;
mod gateway;
mod history;
mod identities;
mod inbox;
mod issuer;
mod keys;
mod letter;
mod login;
pub(crate) mod names;
mod notice;
mod quota;
mod reach;
mod run;
mod schedule;
mod skill;
mod stop;
mod tenants;
mod user;
mod verify;
mod wake;
mod webhook;

use std::path::PathBuf;

use clap::{Parser, Subcommand};

pub(crate) use alert::AlertSubcommand;
pub(crate) use audit::AuditSubcommand;
pub(crate) use conformance::{AgentTrialArgs, ConformanceSubcommand};
pub(crate) use data::DataSubcommand;
pub(crate) use doctor::DoctorArgs;
pub(crate) use explain::ExplainArgs;
pub(crate) use gateway::GatewaySubcommand;
pub(crate) use history::HistorySubcommand;
pub(crate) use inbox::InboxSubcommand;
pub(crate) use issuer::IssuerSubcommand;
pub(crate) use letter::LetterSubcommand;
pub(crate) use login::{AdminSubcommand, DeskArgs, LoginArgs};
pub(crate) use reach::{BindingSubcommand, GrantSubcommand, LinkSubcommand};
pub(crate) use run::run;
pub(crate) use schedule::ScheduleSubcommand;
pub(crate) use skill::SkillSubcommand;
pub(crate) use user::{GlassSubcommand, TokenSubcommand, UserSubcommand};
pub(crate) use verify::VerifyArgs;
pub(crate) use wake::WakeSubcommand;

use names::AgentArgs;
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

    /// Print the answer as JSON.
    #[arg(long, global = true)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) at: DeskArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a node of the desk.
    #[command(after_help = "Example:\n  nightdesk serve --config desk.toml")]
    Serve,
    /// Run a complete desk for a trial: its own PostgreSQL, a web chat, an agent that echoes.
    #[command(after_help = "Example:\n  nightdesk dev --listen 127.0.0.1:8800")]
    Dev {
        /// The address that it listens on.
        #[arg(long, default_value = "127.0.0.1:8800", value_name = "ADDRESS")]
        listen: std::net::SocketAddr,
        /// The URL to which the desk posts the entries of your agent, in place of the agent that echoes.
        #[arg(long, value_name = "URL")]
        webhook: Option<reqwest::Url>,
    },
    /// Test programs against a trial desk.
    #[command(subcommand)]
    Conformance(ConformanceSubcommand),
    /// Log in to a desk, and store the token for later commands.
    #[command(
        after_help = "Example:\n  nightdesk login --desk https://desk.example.org\n  nightdesk login --link 'https://desk.example.org/login?code=…'"
    )]
    Login(LoginArgs),
    /// Revoke the token of the login, and forget it.
    #[command(after_help = "Example:\n  nightdesk logout")]
    Logout,
    /// Show the user and the token of the login.
    #[command(after_help = "Example:\n  nightdesk whoami")]
    Whoami,
    /// Let an operator in, on the desk's own machine.
    #[command(subcommand)]
    Admin(AdminSubcommand),
    /// Migrate the database to this version.
    #[command(after_help = "Example:\n  nightdesk migrate --config desk.toml")]
    Migrate,
    /// Check the configuration file.
    #[command(subcommand)]
    Config(ConfigSubcommand),
    /// Examine a desk: what is wrong, and what to do about it. Fails if a fault remains.
    #[command(
        after_help = "Example:\n  nightdesk doctor\n  nightdesk doctor --fix\n  nightdesk doctor --local --config desk.toml"
    )]
    Doctor(DoctorArgs),
    /// Manage the keys of the vault.
    #[command(subcommand)]
    Key(KeySubcommand),
    /// Tell the desk that its database lost commits.
    #[command(subcommand)]
    History(HistorySubcommand),
    #[command(flatten)]
    Desk(DeskCommand),
}

/// The commands that call a desk.
#[derive(Debug, Subcommand)]
pub(crate) enum DeskCommand {
    /// Manage tenants: the customers of the desk.
    #[command(subcommand)]
    Tenant(TenantSubcommand),
    /// Manage agents: the programs that receive messages.
    #[command(subcommand)]
    Agent(AgentSubcommand),
    /// Manage bots: the desk's accounts on platforms.
    #[command(subcommand)]
    Bot(BotSubcommand),
    /// Manage the users who log in to the desk.
    #[command(subcommand)]
    User(UserSubcommand),
    /// Manage your API tokens.
    #[command(subcommand)]
    Token(TokenSubcommand),
    /// Let an operator read the messages of a tenant for a limited time, with the approval of another one.
    #[command(subcommand)]
    Glass(GlassSubcommand),
    /// Create codes that link people to agents.
    #[command(subcommand)]
    Link(LinkSubcommand),
    /// Bind people on platforms to agents.
    #[command(subcommand)]
    Binding(BindingSubcommand),
    /// Grant chats to agents.
    #[command(subcommand)]
    Grant(GrantSubcommand),
    /// Manage gateways: the clients with which agents dial in.
    #[command(subcommand)]
    Gateway(GatewaySubcommand),
    /// Manage the desk's tokens and the sessions of agents.
    #[command(subcommand)]
    Issuer(IssuerSubcommand),
    /// Show waiting and parked entries of an agent.
    #[command(subcommand)]
    Inbox(InboxSubcommand),
    /// Show and wake sleeping agents.
    #[command(subcommand)]
    Wake(WakeSubcommand),
    /// Show and change the jobs of agents.
    #[command(subcommand)]
    Schedule(ScheduleSubcommand),
    /// Manage the skills that agents share.
    #[command(subcommand)]
    Skill(SkillSubcommand),
    /// Manage the data that agents share.
    #[command(subcommand)]
    Data(DataSubcommand),
    /// Manage letters between agents.
    #[command(subcommand)]
    Letter(LetterSubcommand),
    /// Show the notices to a tenant.
    #[command(subcommand)]
    Notice(NoticeSubcommand),
    /// Show alerts, and choose where they go.
    #[command(subcommand)]
    Alert(AlertSubcommand),
    /// Show and verify the audit log.
    #[command(subcommand)]
    Audit(AuditSubcommand),
    /// Explain the outcome of an event, or predict it.
    #[command(
        after_help = "Example:\n  nightdesk explain --tenant acme 0193…-7\n  nightdesk explain --dry-run --bot 0193… --author 4711 --chat 99"
    )]
    Explain(ExplainArgs),
    /// Prove step by step that a function works, or say what to fix.
    #[command(after_help = "Example:\n  nightdesk verify --tenant acme --wake helper")]
    Verify(VerifyArgs),
}

#[derive(Debug, Subcommand)]
pub(crate) enum NoticeSubcommand {
    /// List the recent notices to a tenant about its agents, newest first.
    #[command(after_help = "Example:\n  nightdesk notice list --tenant acme")]
    List {
        /// The tenant, by name or id.
        #[arg(long)]
        tenant: String,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigSubcommand {
    /// Check that a node could run with the configuration, and say what to fix.
    #[command(after_help = "Example:\n  nightdesk config check --config desk.toml")]
    Check,
}

#[derive(Debug, Subcommand)]
pub(crate) enum KeySubcommand {
    /// Print a new key for the vault's key file.
    #[command(after_help = "Example:\n  nightdesk key new > vault.key && chmod 400 vault.key")]
    New,
    /// Wrap all data keys with the vault's newest key, so that the older keys are not needed any more.
    #[command(after_help = "Example:\n  nightdesk key rotate --config desk.toml")]
    Rotate,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TenantSubcommand {
    /// Create a tenant.
    #[command(after_help = "Example:\n  nightdesk tenant create acme")]
    Create {
        /// The tenant's name.
        name: String,
    },
    /// List the tenants.
    #[command(after_help = "Example:\n  nightdesk tenant list --json")]
    List(PageArgs),
    /// Set or show the quotas of a tenant. A change applies at once.
    #[command(after_help = "Example:\n  nightdesk tenant quota --tenant acme agents=100")]
    Quota {
        /// The tenant, by name or id.
        #[arg(long)]
        tenant: String,
        /// The quota and its value: `agents`, `grants`, `pending-entries`, `pending-bytes`.
        #[arg(value_name = "QUOTA=NUMBER", value_parser = quota::parse)]
        quotas: Vec<(Quota, i64)>,
    },
    /// Give a tenant a new data key, and seal its secrets with it.
    #[command(name = "rotate-key", after_help = "Example:\n  nightdesk tenant rotate-key acme")]
    RotateKey {
        /// The tenant, by name or id.
        name: String,
    },
    /// Erase a tenant permanently: its keys, its bots, its gateways, and all messages.
    #[command(after_help = "Example:\n  nightdesk tenant erase acme --yes")]
    Erase {
        /// The tenant, by name or id.
        name: String,
        /// Confirm. It cannot be undone.
        #[arg(long)]
        yes: bool,
    },
    /// Let the secrets of a tenant's gateways widen the reach of their agents, or forbid it again.
    #[command(
        name = "trust-gateways",
        after_help = "Example:\n  nightdesk tenant trust-gateways --tenant acme"
    )]
    TrustGateways {
        /// The tenant of the gateways, by name or id.
        #[arg(long)]
        tenant: String,
        /// Forbid it: the secrets may only narrow the reach, which is the default.
        #[arg(long)]
        stop: bool,
    },
}

/// A page of a list.
#[derive(Debug, clap::Args)]
pub(crate) struct PageArgs {
    /// Begin after this name: the last one of the previous page.
    #[arg(long, default_value = "", value_name = "NAME", hide_default_value = true)]
    pub(crate) after: String,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AgentSubcommand {
    /// Create an agent of a tenant.
    #[command(after_help = "Example:\n  nightdesk agent create --tenant acme helper")]
    Create {
        /// The agent's tenant, by name or id.
        #[arg(long)]
        tenant: String,
        /// The agent's name.
        name: String,
    },
    /// List the agents of a tenant.
    #[command(after_help = "Example:\n  nightdesk agent list --tenant acme")]
    List {
        /// The agents' tenant, by name or id.
        #[arg(long)]
        tenant: String,
        #[command(flatten)]
        page: PageArgs,
    },
    /// Set or show the URLs that are called when an entry waits for an agent.
    #[command(
        name = "wake-url",
        after_help = "Example:\n  nightdesk agent wake-url --tenant acme --agent helper https://agents.example/helper/wake"
    )]
    WakeUrl {
        #[command(flatten)]
        whose: AgentArgs,
        /// The URLs, in the order in which they are tried. Without any, the current ones are shown.
        #[arg(value_name = "URL")]
        urls: Vec<String>,
        /// Remove all URLs.
        #[arg(long, conflicts_with = "urls")]
        clear: bool,
    },
    /// Set or show the URL to which the desk posts an agent's entries. Setting it prints the new secret that signs the
    /// posts; the previous one signs for another day.
    #[command(
        after_help = "Example:\n  nightdesk agent webhook --tenant acme --agent helper https://agents.example/helper"
    )]
    Webhook {
        #[command(flatten)]
        whose: AgentArgs,
        /// The URL. Without it, the current one is shown.
        url: Option<String>,
        /// Remove the webhook.
        #[arg(long, conflicts_with = "url")]
        clear: bool,
    },
    /// Show the reach of an agent, or set to whom it is open where it has grants.
    #[command(
        after_help = "Example:\n  nightdesk agent reach --tenant acme --agent helper\n  nightdesk agent reach --tenant acme --agent helper --open-to allow-list"
    )]
    Reach {
        #[command(flatten)]
        whose: AgentArgs,
        /// `owner-only`, `allow-list` or `any`. Without it, the reach is shown.
        #[arg(long, value_name = "PRINCIPAL", value_parser = reach::principal)]
        open_to: Option<nightdesk_types::Principal>,
    },
    /// Stop a running turn of an agent, through a node that runs.
    #[command(
        after_help = "Example:\n  nightdesk agent stop --tenant acme --agent helper --platform telegram --chat 4711"
    )]
    Stop(stop::StopArgs),
    /// Let an agent stop the turns of the tenant's other agents, or forbid it again.
    #[command(
        name = "let-stop",
        after_help = "Example:\n  nightdesk agent let-stop --tenant acme --agent boss"
    )]
    LetStop {
        #[command(flatten)]
        whose: AgentArgs,
        /// Forbid it: the agent stops only its own turns, which is the default.
        #[arg(long)]
        forbid: bool,
    },
    /// Remove everything by which an agent can be reached or dial in.
    #[command(after_help = "Example:\n  nightdesk agent deprovision --tenant acme --agent helper")]
    Deprovision {
        #[command(flatten)]
        whose: AgentArgs,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum BotSubcommand {
    /// Create a bot.
    #[command(
        after_help = "Example:\n  nightdesk bot create --tenant acme --platform discord --handle 8812 --key-file bot.key"
    )]
    Create(NewBotArgs),
    /// Create a bot from its platform's data, and tell the platform where to deliver its updates.
    #[command(
        after_help = "Example:\n  nightdesk bot connect telegram --tenant acme --key-file bot.key"
    )]
    Connect(connect::ConnectArgs),
    /// Give a bot a new key. Signatures with the previous key stay valid for a while.
    #[command(
        name = "rotate-key",
        after_help = "Example:\n  nightdesk bot rotate-key --tenant acme --bot 0193… --key-file bot.key"
    )]
    RotateKey(bots::BotKeyRotation),
    /// List the bots on which agents of a tenant may be linked: its own, with their reception state, and those that
    /// other tenants share.
    #[command(after_help = "Example:\n  nightdesk bot list --tenant acme")]
    List {
        /// The agents' tenant, by name or id.
        #[arg(long)]
        tenant: String,
    },
    /// Query a bot's platform for the bot's state, and say what is wrong and how to fix it. Fails if anything is wrong.
    #[command(after_help = "Example:\n  nightdesk bot check --tenant acme --bot 0193…")]
    Check(bots::BotArgs),
    /// Remove a bot, with its key and all data of people and agents on it.
    #[command(after_help = "Example:\n  nightdesk bot remove --tenant acme --bot 0193… --yes")]
    Remove {
        #[command(flatten)]
        which: bots::BotArgs,
        /// Confirm. It cannot be undone.
        #[arg(long)]
        yes: bool,
    },
    /// Let agents of other tenants be linked on a bot, or forbid it again. Existing links stay.
    #[command(after_help = "Example:\n  nightdesk bot share --tenant acme --bot 0193…")]
    Share {
        /// The tenant that runs the bot, by name or id.
        #[arg(long)]
        tenant: String,
        /// The bot's id.
        #[arg(long)]
        bot: String,
        /// Forbid it again.
        #[arg(long)]
        stop: bool,
    },
}

#[derive(Debug, clap::Args)]
pub(crate) struct NewBotArgs {
    /// The tenant that runs the bot.
    #[arg(long)]
    pub(crate) tenant: String,
    /// The platform's name, as agents see it.
    #[arg(long)]
    pub(crate) platform: String,
    /// The adapter that serves the bot, if not the one of that name.
    #[arg(long)]
    pub(crate) adapter: Option<String>,
    /// The bot's handle on the platform.
    #[arg(long)]
    pub(crate) handle: String,
    /// The file with the key to the bot's account. A `webchat` bot without a file gets a random key.
    #[arg(long, value_name = "FILE")]
    pub(crate) key_file: Option<PathBuf>,
    /// Further settings of the adapter, as JSON.
    #[arg(long, default_value = "{}", value_name = "JSON")]
    pub(crate) settings: String,
}
