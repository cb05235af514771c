//! Commands about an agent's reach.

use clap::Subcommand;
use nightdesk_types::Principal;
use serde_json::json;

use super::letter::{self, AgentPairArgs};
use super::names::AgentArgs;
use crate::desk_client::{ApiRequest, DeskClient};
use crate::ui::CommandOutput;

/// The members of a bot on which agents may be linked.
const LINK_BOT_COLUMNS: &[&str] = &["bot_id", "platform", "handle", "own"];

/// The members of a person in a list.
const PERSON_COLUMNS: &[&str] = &["author", "bot_id"];

/// The members of a grant in a list.
const GRANT_COLUMNS: &[&str] = &["bot_id", "scope", "chat", "open_to"];

#[derive(Debug, Subcommand)]
pub(crate) enum LinkSubcommand {
    /// Create a code; a person who sends it to a bot is linked to the agent. It is shown once.
    #[command(after_help = "Example:\n  nightdesk link create --tenant acme --agent helper")]
    Create {
        #[command(flatten)]
        whose: AgentArgs,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum BindingSubcommand {
    /// Bind a person on a platform to their agent.
    #[command(
        after_help = "Example:\n  nightdesk binding create --tenant acme --agent helper --bot 0193… --author 4711"
    )]
    Create(BindingArgs),
    /// Remove a binding.
    #[command(
        after_help = "Example:\n  nightdesk binding remove --tenant acme --agent helper --bot 0193… --author 4711"
    )]
    Remove(BindingArgs),
    /// Make this agent the person's preferred one where nothing else selects an agent.
    #[command(
        after_help = "Example:\n  nightdesk binding prefer --tenant acme --agent helper --bot 0193… --author 4711"
    )]
    Prefer(BindingArgs),
}

#[derive(Debug, clap::Args)]
pub(crate) struct BindingArgs {
    #[command(flatten)]
    whose: AgentArgs,
    /// The bot's id.
    #[arg(long)]
    bot: String,
    /// The person, by the platform's id.
    #[arg(long)]
    author: String,
}

#[derive(Debug, Subcommand)]
pub(crate) enum GrantSubcommand {
    /// Grant a chat, or a whole scope, to an agent.
    #[command(
        after_help = "Example:\n  nightdesk grant create --tenant acme --agent helper --bot 0193… --chat 99 --open"
    )]
    Create {
        #[command(flatten)]
        given: GrantArgs,
        /// Admit everyone, not only people bound to the agent.
        #[arg(long)]
        open: bool,
    },
    /// Let an agent edit, delete and react to messages of other agents in a chat that is granted to it.
    #[command(
        after_help = "Example:\n  nightdesk grant moderate --tenant acme --agent helper --bot 0193… --chat 99"
    )]
    Moderate {
        #[command(flatten)]
        given: GrantArgs,
    },
    /// Remove a grant.
    #[command(
        after_help = "Example:\n  nightdesk grant remove --tenant acme --agent helper --bot 0193… --chat 99"
    )]
    Remove {
        #[command(flatten)]
        given: GrantArgs,
    },
    /// Let an agent and an agent of another tenant write letters to each other. Both tenants must allow it.
    #[command(
        after_help = "Example:\n  nightdesk grant letters --tenant acme --agent helper --peer-tenant beta --peer-agent owl"
    )]
    Letters(AgentPairArgs),
    /// Withdraw that permission.
    #[command(
        after_help = "Example:\n  nightdesk grant no-letters --tenant acme --agent helper --peer-tenant beta --peer-agent owl"
    )]
    NoLetters(AgentPairArgs),
    /// List the permissions of a tenant for letters with other tenants.
    #[command(after_help = "Example:\n  nightdesk grant list-letters --tenant acme")]
    ListLetters {
        /// The tenant, by name or id.
        #[arg(long)]
        tenant: String,
    },
}

#[derive(Debug, clap::Args)]
pub(crate) struct GrantArgs {
    #[command(flatten)]
    whose: AgentArgs,
    /// The bot in the chat.
    #[arg(long)]
    bot: String,
    /// The chat, by the platform's id; `*` for every chat of the scope, or of the bot if there is no scope.
    #[arg(long, allow_hyphen_values = true)]
    chat: String,
    /// The chat's guild, workspace or server.
    #[arg(long)]
    scope: Option<String>,
}

/// Parses the principal that an agent is open to.
pub(crate) fn principal(text: &str) -> Result<Principal, String> {
    Principal::from_slug(text).ok_or_else(|| "use owner-only, allow-list or any".to_owned())
}

/// Creates a code that links a person to an agent.
pub(super) async fn run_link(
    desk: &DeskClient,
    command: LinkSubcommand,
) -> anyhow::Result<CommandOutput> {
    let LinkSubcommand::Create { whose } = command;
    let data = desk.call(ApiRequest::post(&whose.path(&["link-codes"]))).await?;
    Ok(CommandOutput::Page { data, lists: &[("to", LINK_BOT_COLUMNS)] })
}

/// Changes the binding of a person.
pub(super) async fn run_binding(
    desk: &DeskClient,
    command: BindingSubcommand,
) -> anyhow::Result<CommandOutput> {
    let request = match &command {
        BindingSubcommand::Create(bound) => ApiRequest::put(&bound.path(&[])),
        BindingSubcommand::Remove(bound) => ApiRequest::delete(&bound.path(&[])),
        BindingSubcommand::Prefer(bound) => ApiRequest::post(&bound.path(&["prefer"])),
    };
    Ok(CommandOutput::One(desk.call(request).await?))
}

/// Changes or lists grants.
pub(super) async fn run_grant(
    desk: &DeskClient,
    command: GrantSubcommand,
) -> anyhow::Result<CommandOutput> {
    let request = match &command {
        GrantSubcommand::Create { given, open } => {
            let principal = if *open { Principal::Any } else { Principal::OwnerOnly };
            let body = json!({ "open_to": principal.slug() });
            given.in_scope(ApiRequest::put(&given.path(&[]))).with_body(body)
        }
        GrantSubcommand::Moderate { given } => {
            given.in_scope(ApiRequest::put(&given.path(&["moderation"])))
        }
        GrantSubcommand::Remove { given } => given.in_scope(ApiRequest::delete(&given.path(&[]))),
        GrantSubcommand::Letters(between) => return letter::grant(desk, between).await,
        GrantSubcommand::NoLetters(between) => return letter::withdraw(desk, between).await,
        GrantSubcommand::ListLetters { tenant } => return letter::grants(desk, tenant).await,
    };
    Ok(CommandOutput::One(desk.call(request).await?))
}

impl BindingArgs {
    fn path<'a>(&'a self, rest: &[&'a str]) -> Vec<&'a str> {
        [&self.whose.path(&["bindings", &self.bot, &self.author])[..], rest].concat()
    }
}

impl GrantArgs {
    fn path<'a>(&'a self, rest: &[&'a str]) -> Vec<&'a str> {
        [&self.whose.path(&["grants", &self.bot, &self.chat])[..], rest].concat()
    }

    fn in_scope<'a>(&self, request: ApiRequest<'a>) -> ApiRequest<'a> {
        request.with("scope", self.scope.as_deref().unwrap_or_default())
    }
}

/// Shows the reach of an agent, or sets the people that it is open to.
pub(super) async fn show_reach(
    desk: &DeskClient,
    whose: &AgentArgs,
    open_to: Option<Principal>,
) -> anyhow::Result<CommandOutput> {
    let path = whose.path(&["reach"]);
    let request = match open_to {
        Some(principal) => ApiRequest::put(&path).with_body(json!({ "open_to": principal.slug() })),
        None => ApiRequest::get(&path),
    };
    let lists =
        &[("people", PERSON_COLUMNS), ("granted", GRANT_COLUMNS), ("allow_list", PERSON_COLUMNS)];
    Ok(CommandOutput::Page { data: desk.call(request).await?, lists })
}
