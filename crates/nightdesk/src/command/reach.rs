//! Commands about an agent's reach. An operator may make every change.

use anyhow::{Context, bail};
use clap::Subcommand;
use nightdesk_register::{OnBot, Register};
use nightdesk_store_pg::Pg;
use nightdesk_types::limits::LINK_CODE_LIFE;
use nightdesk_types::{Granted, Principal};
use serde_json::json;

use super::letter::{self, Between};
use super::names::Whose;
use super::{list, names};
use crate::ui::Answer;

#[derive(Debug, Subcommand)]
pub(crate) enum Link {
    /// Create a code; a person who sends it to a bot is linked to the agent. It is shown once.
    #[command(after_help = "Example:\n  nightdesk link create --tenant acme --agent helper")]
    Create {
        #[command(flatten)]
        whose: Whose,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Binding {
    /// Bind a person on a platform to their agent.
    #[command(
        after_help = "Example:\n  nightdesk binding create --tenant acme --agent helper --bot 0193… --author 4711"
    )]
    Create(Bound),
    /// Remove a binding.
    #[command(
        after_help = "Example:\n  nightdesk binding remove --tenant acme --agent helper --bot 0193… --author 4711"
    )]
    Remove(Bound),
    /// Make this agent the person's preferred one where nothing else selects an agent.
    #[command(
        after_help = "Example:\n  nightdesk binding prefer --tenant acme --agent helper --bot 0193… --author 4711"
    )]
    Prefer(Bound),
}

#[derive(Debug, clap::Args)]
pub(crate) struct Bound {
    #[command(flatten)]
    whose: Whose,
    /// The bot's id.
    #[arg(long)]
    bot: String,
    /// The person, by the platform's id.
    #[arg(long)]
    author: String,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Grant {
    /// Grant a chat, or a whole scope, to an agent.
    #[command(
        after_help = "Example:\n  nightdesk grant create --tenant acme --agent helper --bot 0193… --chat 99 --open"
    )]
    Create {
        #[command(flatten)]
        given: Given,
        /// Admit everyone, not only people bound to the agent.
        #[arg(long)]
        open: bool,
    },
    /// Remove a grant.
    #[command(
        after_help = "Example:\n  nightdesk grant remove --tenant acme --agent helper --bot 0193… --chat 99"
    )]
    Remove {
        #[command(flatten)]
        given: Given,
    },
    /// Let an agent and an agent of another tenant write letters to each other. Both tenants must allow it.
    #[command(
        after_help = "Example:\n  nightdesk grant letters --tenant acme --agent helper --peer-tenant beta --peer-agent owl"
    )]
    Letters(Between),
    /// Withdraw that permission.
    #[command(
        after_help = "Example:\n  nightdesk grant no-letters --tenant acme --agent helper --peer-tenant beta --peer-agent owl"
    )]
    NoLetters(Between),
    /// List the permissions of a tenant for letters with other tenants.
    #[command(after_help = "Example:\n  nightdesk grant list-letters --tenant acme")]
    ListLetters {
        /// The tenant, by name or id.
        #[arg(long)]
        tenant: String,
    },
}

#[derive(Debug, clap::Args)]
pub(crate) struct Given {
    #[command(flatten)]
    whose: Whose,
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
    Principal::named(text).ok_or_else(|| "use owner-only, allow-list or any".to_owned())
}

pub(super) async fn link(register: &Register, link: Link) -> anyhow::Result<Answer> {
    let Link::Create { whose } = link;
    let (scope, agent) = whose.found(register).await?;
    let code = register.link_code(scope, agent).await?;
    let code = code.context("the agent got too many codes this hour; use one of them, or wait")?;
    let say = code.with(|code| format!("/link {code}"));
    let bots = register.store().open_bots(scope).await?;
    let to: Vec<_> = bots.iter().map(list::open_bot).collect();
    let minutes = LINK_CODE_LIFE.as_secs() / 60;
    Ok(Answer::One(json!({ "say": say, "to": to, "good_for": format!("{minutes}m") })))
}

pub(super) async fn binding(register: &Register, binding: Binding) -> anyhow::Result<Answer> {
    let (Binding::Create(bound) | Binding::Remove(bound) | Binding::Prefer(bound)) = &binding;
    let (scope, agent) = bound.whose.found(register).await?;
    let on = OnBot { scope, agent, bot: names::bot(&bound.bot)? };
    match &binding {
        Binding::Create(_) => register.store().bind(on, &bound.author).await?,
        Binding::Remove(_) => register.store().unbind(on, &bound.author).await?,
        Binding::Prefer(_) => {
            if !register.store().prefer(on, &bound.author).await? {
                bail!(
                    "{} is not bound to that agent; run `nightdesk binding create` first",
                    bound.author
                );
            }
        }
    }
    Ok(Answer::One(json!({ "agent_id": agent, "author": bound.author })))
}

pub(super) async fn grant(register: &Register, pg: &Pg, grant: Grant) -> anyhow::Result<Answer> {
    match grant {
        Grant::Create { given, open } => {
            let principal = if open { Principal::Any } else { Principal::OwnerOnly };
            chat(register, &given, Some(principal)).await
        }
        Grant::Remove { given } => chat(register, &given, None).await,
        Grant::Letters(between) => letter::grant(register, pg, &between, true).await,
        Grant::NoLetters(between) => letter::grant(register, pg, &between, false).await,
        Grant::ListLetters { tenant } => {
            letter::grants(pg, names::tenant(register, &tenant).await?).await
        }
    }
}

/// Grants a chat to an agent with the people who may write there, or removes the grant.
async fn chat(
    register: &Register,
    given: &Given,
    open_to: Option<Principal>,
) -> anyhow::Result<Answer> {
    let (scope, agent) = given.whose.found(register).await?;
    let on = OnBot { scope, agent, bot: names::bot(&given.bot)? };
    let (chat, granted) = (&given.chat, Granted::of(given.scope.as_deref(), &given.chat));
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
    Ok(Answer::One(json!({ "agent_id": agent, "chat": chat })))
}

pub(super) async fn of(
    register: &Register,
    whose: &Whose,
    open_to: Option<Principal>,
) -> anyhow::Result<Answer> {
    let (scope, agent) = whose.found(register).await?;
    if let Some(principal) = open_to {
        register.store().open_to(scope, agent, principal).await?;
    }
    Ok(Answer::One(list::reach(&register.store().reach_of(scope, agent).await?)))
}
