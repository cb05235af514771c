//! Commands about sleeping agents.

use clap::Subcommand;
use serde_json::json;

use super::PageArgs;
use super::names::AgentArgs;
use crate::desk_client::{ApiRequest, DeskClient};
use crate::ui::CommandOutput;

#[derive(Debug, Subcommand)]
pub(crate) enum WakeSubcommand {
    /// Show which agents are up, which are being called, and the results of the calls.
    #[command(after_help = "Example:\n  nightdesk wake status --tenant acme --agent helper")]
    Status {
        /// The agents' tenant, by name or id.
        #[arg(long)]
        tenant: String,
        /// Only this agent, by name or id. Without it, all agents.
        #[arg(long)]
        agent: Option<String>,
        #[command(flatten)]
        page: PageArgs,
    },
    /// Call an agent now, even if no entry waits for it, and show the result.
    #[command(after_help = "Example:\n  nightdesk wake call --tenant acme --agent helper")]
    Call(AgentArgs),
}

/// The members of an agent in a list.
const WAKE_COLUMNS: &[&str] = &[
    "agent",
    "line",
    "wake",
    "since",
    "calls",
    "called_at",
    "outcome",
    "next_at",
    "waiting",
    "urls",
];

/// Runs a command about waking.
pub(super) async fn run(
    desk: &DeskClient,
    command: WakeSubcommand,
) -> anyhow::Result<CommandOutput> {
    match command {
        WakeSubcommand::Status { tenant, agent: Some(agent), page: _ } => {
            let whose = AgentArgs { tenant, agent };
            Ok(CommandOutput::One(desk.call(ApiRequest::get(&whose.path(&["wake"]))).await?))
        }
        WakeSubcommand::Status { tenant, agent: None, page } => {
            let request = ApiRequest::get(&["tenants", &tenant, "wakes"]);
            desk.list(request.with("after", &page.after), WAKE_COLUMNS).await
        }
        WakeSubcommand::Call(whose) => {
            Ok(CommandOutput::One(desk.call(ApiRequest::post(&whose.path(&["wake"]))).await?))
        }
    }
}

/// Shows the wake URLs of an agent.
pub(super) async fn show_urls(
    desk: &DeskClient,
    whose: &AgentArgs,
) -> anyhow::Result<CommandOutput> {
    Ok(CommandOutput::One(desk.call(ApiRequest::get(&whose.path(&["wake-urls"]))).await?))
}

/// Sets the wake URLs of an agent.
pub(super) async fn set_urls(
    desk: &DeskClient,
    whose: &AgentArgs,
    urls: &[String],
) -> anyhow::Result<CommandOutput> {
    let request = ApiRequest::put(&whose.path(&["wake-urls"])).with_body(json!({ "urls": urls }));
    Ok(CommandOutput::One(desk.call(request).await?))
}
