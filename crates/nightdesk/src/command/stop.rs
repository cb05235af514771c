//! `nightdesk agent stop`, `nightdesk agent let-stop`: stop running turns.

use nightdesk_office::StopPermission;
use nightdesk_protocol::http::stops::StopSessionRequest;

use super::names::AgentArgs;
use crate::desk_client::{ApiRequest, DeskClient};
use crate::ui::CommandOutput;

/// The session whose turn is stopped.
#[derive(Debug, clap::Args)]
pub(crate) struct StopArgs {
    #[command(flatten)]
    whose: AgentArgs,
    /// The platform of the chat.
    #[arg(long, required_unless_present = "session", requires = "chat")]
    platform: Option<String>,
    /// The chat, by the platform's id.
    #[arg(long, allow_hyphen_values = true, requires = "platform")]
    chat: Option<String>,
    /// The kind of chat: `dm`, `group`, `channel`, `thread` or `forum`.
    #[arg(long, default_value = "dm")]
    chat_type: String,
    /// The thread in the chat.
    #[arg(long)]
    thread: Option<String>,
    /// The person whose session it is, in a shared chat.
    #[arg(long)]
    user: Option<String>,
    /// The agent's own key of the session, in place of platform and chat.
    #[arg(long, value_name = "KEY")]
    session: Option<String>,
    /// Set the entries of the chat aside that wait for the agent while it sleeps.
    #[arg(long)]
    drop_waiting: bool,
}

/// Stops a running turn of an agent.
pub(super) async fn run(desk: &DeskClient, args: StopArgs) -> anyhow::Result<CommandOutput> {
    let body = serde_json::to_value(stop_request(&args))?;
    let request = ApiRequest::post(&args.whose.path(&["stop"])).with_body(body);
    Ok(CommandOutput::One(desk.call(request).await?))
}

/// Lets an agent stop the turns of its tenant's other agents, or forbids it.
pub(super) async fn permit(
    desk: &DeskClient,
    whose: &AgentArgs,
    permission: StopPermission,
) -> anyhow::Result<CommandOutput> {
    let body = serde_json::to_value(permission)?;
    let request = ApiRequest::put(&whose.path(&["stop-permission"])).with_body(body);
    Ok(CommandOutput::One(desk.call(request).await?))
}

fn stop_request(args: &StopArgs) -> StopSessionRequest {
    StopSessionRequest {
        agent: None,
        session_key: args.session.clone(),
        platform: args.platform.clone().unwrap_or_default(),
        chat_id: args.chat.clone().unwrap_or_default(),
        chat_type: Some(args.chat_type.clone()),
        thread_id: args.thread.clone(),
        user_id: args.user.clone(),
        drop_waiting: args.drop_waiting,
    }
}
