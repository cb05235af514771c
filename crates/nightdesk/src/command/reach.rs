//! Commands about an agent's reach. An operator may make every change.

use anyhow::{Context, bail};
use clap::Subcommand;
use nightdesk_register::{AgentOnBot, Register};
use nightdesk_store_pg::Pg;
use nightdesk_types::limits::LINK_CODE_LIFE;
use nightdesk_types::{GrantTarget, Principal};
use serde_json::json;

use super::letter::{self, AgentPairArgs};
use super::names::AgentArgs;
use super::{list, names};
use crate::ui::CommandOutput;

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

pub(super) async fn link(
    register: &Register,
    link: LinkSubcommand,
) -> anyhow::Result<CommandOutput> {
    let LinkSubcommand::Create { whose } = link;
    let (scope, agent) = whose.resolve(register).await?;
    let code = register.link_code(scope, agent).await?;
    let code = code.context("the agent got too many codes this hour; use one of them, or wait")?;
    let say = code.with(|code| format!("/link {code}"));
    let bots = register.store().open_bots(scope).await?;
    let to: Vec<_> = bots.iter().map(list::open_bot).collect();
    let minutes = LINK_CODE_LIFE.as_secs() / 60;
    Ok(CommandOutput::One(json!({ "say": say, "to": to, "good_for": format!("{minutes}m") })))
}

pub(super) async fn binding(
    register: &Register,
    binding: BindingSubcommand,
) -> anyhow::Result<CommandOutput> {
    let (BindingSubcommand::Create(bound)
    | BindingSubcommand::Remove(bound)
    | BindingSubcommand::Prefer(bound)) = &binding;
    let (scope, agent) = bound.whose.resolve(register).await?;
    let on = AgentOnBot { scope, agent, bot: names::bot(&bound.bot)? };
    match &binding {
        BindingSubcommand::Create(_) => register.store().bind(on, &bound.author).await?,
        BindingSubcommand::Remove(_) => register.store().unbind(on, &bound.author).await?,
        BindingSubcommand::Prefer(_) => {
            if !register.store().prefer(on, &bound.author).await? {
                bail!(
                    "{} is not bound to that agent; run `nightdesk binding create` first",
                    bound.author
                );
            }
        }
    }
    Ok(CommandOutput::One(json!({ "agent_id": agent, "author": bound.author })))
}

pub(super) async fn grant(
    register: &Register,
    pg: &Pg,
    grant: GrantSubcommand,
) -> anyhow::Result<CommandOutput> {
    match grant {
        GrantSubcommand::Create { given, open } => {
            let principal = if open { Principal::Any } else { Principal::OwnerOnly };
            chat(register, &given, Some(principal)).await
        }
        GrantSubcommand::Moderate { given } => moderate(register, &given).await,
        GrantSubcommand::Remove { given } => chat(register, &given, None).await,
        GrantSubcommand::Letters(between) => letter::grant(register, pg, &between, true).await,
        GrantSubcommand::NoLetters(between) => letter::grant(register, pg, &between, false).await,
        GrantSubcommand::ListLetters { tenant } => {
            letter::grants(pg, names::tenant(register, &tenant).await?).await
        }
    }
}

/// Grants a chat to an agent with the people who may write there, or removes the grant.
async fn chat(
    register: &Register,
    given: &GrantArgs,
    open_to: Option<Principal>,
) -> anyhow::Result<CommandOutput> {
    let (scope, agent) = given.whose.resolve(register).await?;
    let on = AgentOnBot { scope, agent, bot: names::bot(&given.bot)? };
    let (chat, granted) = (&given.chat, GrantTarget::for_chat(given.scope.as_deref(), &given.chat));
    match open_to {
        Some(principal) => {
            if !register.store().grant(on, &granted, Some(principal)).await? {
                bail!("chat {chat} is granted to another agent; remove that grant first");
            }
        }
        None => {
            if !register.store().release(on, &granted).await? {
                bail!(
                    "the agent has no grant for chat {chat}; `nightdesk agent reach` shows its grants"
                );
            }
        }
    }
    Ok(CommandOutput::One(json!({ "agent_id": agent, "chat": chat })))
}

/// Lets an agent change messages of others in a chat, or on a bot, that is granted to it.
async fn moderate(register: &Register, given: &GrantArgs) -> anyhow::Result<CommandOutput> {
    let (scope, agent) = given.whose.resolve(register).await?;
    let on = AgentOnBot { scope, agent, bot: names::bot(&given.bot)? };
    let (chat, granted) = (&given.chat, GrantTarget::for_chat(given.scope.as_deref(), &given.chat));
    if matches!(granted, GrantTarget::Scope(_)) {
        bail!("a whole scope cannot be moderated; grant and name each chat, or the whole bot");
    }
    if !register.store().allow_moderation(on, &granted).await? {
        bail!("the agent has no grant for chat {chat}; run `nightdesk grant create` first");
    }
    Ok(CommandOutput::One(json!({ "agent_id": agent, "chat": chat })))
}

pub(super) async fn show_reach(
    register: &Register,
    whose: &AgentArgs,
    open_to: Option<Principal>,
) -> anyhow::Result<CommandOutput> {
    let (scope, agent) = whose.resolve(register).await?;
    if let Some(principal) = open_to {
        register.store().open_to(scope, agent, principal).await?;
    }
    Ok(CommandOutput::One(list::reach(&register.store().reach_of(scope, agent).await?)))
}
