//! `nightdesk explain`: explains the outcome of an event, or predicts it.

use anyhow::{Context, bail};
use clap::Args;
use nightdesk_desk::explaining::{self, Explanation};
use nightdesk_gate::{EventFacts, EventPlace, Gate};
use nightdesk_register::Register;
use nightdesk_store_pg::Pg;
use std::sync::Arc;

use super::names;
use crate::ui::CommandOutput;

#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// The event: its entry's id, as in logs and frames, or the platform's key if the event was refused.
    #[arg(required_unless_present = "dry_run", conflicts_with = "dry_run")]
    event: Option<String>,
    /// The tenant of the agents, by name or id. For an unknown author, the tenant that runs the bot.
    #[arg(long, required_unless_present = "dry_run")]
    tenant: Option<String>,
    /// Show which agents would get a hypothetical event, and why the others would not. The visibility of the chat to
    /// people is not checked: only the platform knows it.
    #[arg(long, requires_all = ["bot", "author", "chat"])]
    dry_run: bool,
    /// The bot that would receive it.
    #[arg(long)]
    bot: Option<String>,
    /// The author, by the platform's id.
    #[arg(long)]
    author: Option<String>,
    /// The chat, by the platform's id.
    #[arg(long, allow_hyphen_values = true)]
    chat: Option<String>,
    /// The guild, workspace or server of the chat. Without it, the chat is a direct one.
    #[arg(long)]
    scope: Option<String>,
    /// The author is a program.
    #[arg(long)]
    program: bool,
    /// The message addresses the bot, by name or as a reply.
    #[arg(long)]
    addressed: bool,
}

pub(super) async fn run(
    register: &Register,
    pg: &Arc<Pg>,
    explain: ExplainArgs,
) -> anyhow::Result<CommandOutput> {
    if explain.dry_run {
        return explain_dry_run(pg, &explain).await;
    }
    let (event, tenant) =
        explain.event.zip(explain.tenant).context("name an event and a tenant")?;
    let scope = names::tenant(register, &tenant).await?;
    match explaining::explain(&**pg, scope, &event).await? {
        Explanation::Unknown => bail!(
            "there is no record of {event} for {tenant}: only recent refusals are stored, and acknowledged \
             entries are deleted after a day; `nightdesk inbox list` shows the entries of an agent"
        ),
        known @ (Explanation::Entry(_) | Explanation::Refused(_)) => {
            Ok(CommandOutput::One(known.to_json()))
        }
    }
}

async fn explain_dry_run(pg: &Arc<Pg>, explain: &ExplainArgs) -> anyhow::Result<CommandOutput> {
    let named = |text: &'static str, value: &Option<String>| value.clone().context(text);
    let author = named("--author is missing", &explain.author)?;
    let chat = named("--chat is missing", &explain.chat)?;
    let bot = names::bot(&named("--bot is missing", &explain.bot)?)?;
    let facts = EventFacts {
        author: &author,
        is_program: explain.program,
        is_addressed: explain.addressed,
        takes_part: false,
        place: EventPlace {
            scope: explain.scope.as_deref(),
            chat: &chat,
            parent: None,
            is_direct: explain.scope.is_none(),
        },
    };
    let decision = Gate::new(Arc::<Pg>::clone(pg)).explain(bot, &facts, None).await?;
    Ok(CommandOutput::One(explaining::decision_json(&**pg, &decision).await?))
}
