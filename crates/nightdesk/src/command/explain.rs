//! `nightdesk explain`: explains the outcome of an event, or predicts it.

use anyhow::Context;
use clap::Args;

use crate::desk_client::{ApiRequest, DeskClient};
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

/// Explains an event, or predicts its outcome.
pub(super) async fn run(desk: &DeskClient, explain: ExplainArgs) -> anyhow::Result<CommandOutput> {
    if explain.dry_run {
        return predict(desk, &explain).await;
    }
    let (event, tenant) =
        explain.event.zip(explain.tenant).context("name an event and a tenant")?;
    let request = ApiRequest::get(&["tenants", &tenant, "events", &event, "explanation"]);
    Ok(CommandOutput::One(desk.call(request).await?))
}

/// Predicts the agents that an event would reach: those of the tenant, or of all tenants.
async fn predict(desk: &DeskClient, explain: &ExplainArgs) -> anyhow::Result<CommandOutput> {
    let given = |value: &Option<String>| value.clone().unwrap_or_default();
    let request = match &explain.tenant {
        Some(tenant) => ApiRequest::get(&["tenants", tenant, "events", "prediction"]),
        None => ApiRequest::get(&["admin", "events", "prediction"]),
    };
    let request = request
        .with("bot", given(&explain.bot))
        .with("author", given(&explain.author))
        .with("chat", given(&explain.chat))
        .with("scope", given(&explain.scope))
        .with("program", explain.program)
        .with("addressed", explain.addressed);
    Ok(CommandOutput::One(desk.call(request).await?))
}
