//! `nightdesk agent stop`: stops a running turn.
//!
//! This process has no line and no bell, so it asks a node that runs, as the agent.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use nightdesk_kit::{BaseUrl, HttpClient};
use nightdesk_protocol::http::stops::{StopResponse, StopSessionRequest};
use nightdesk_register::Register;
use nightdesk_store_pg::Pg;
use nightdesk_types::{Clock, SystemClock};
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE};
use reqwest::{Method, Response};
use serde_json::{Value, json};

use super::names::AgentArgs;
use crate::config::Config;
use crate::issuers;
use crate::ui::CommandOutput;

/// Time for the node's response.
const ANSWER_WAIT: Duration = Duration::from_secs(10);

/// Longest response of the node.
const ANSWER_BYTES_MAX: usize = 64 * 1024;

/// The route of a node.
const ROUTE: &str = "v1/sessions/stop";

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

/// Runs the command.
pub(super) async fn run(
    config: &Config,
    register: &Register,
    pg: &Arc<Pg>,
    args: StopArgs,
) -> anyhow::Result<CommandOutput> {
    let (scope, agent) = args.whose.resolve(register).await?;
    let own = issuers::own_issuer(config, pg, config.vault().await?);
    // The token leaves this process for a node only, which records the stop.
    let token = own.agent_token(scope, agent, SystemClock::start().now()).await?;
    let authorization = token.with(|token| format!("Bearer {token}"));
    let answer = call(&config.public_url(), &authorization, &request(args)).await?;
    let StopResponse { outcome, dropped } = answer;
    Ok(CommandOutput::One(json!({ "agent_id": agent, "outcome": outcome, "dropped": dropped })))
}

/// Lets an agent stop the turns of its tenant's other agents, or forbids it.
pub(super) async fn permit(
    register: &Register,
    whose: &AgentArgs,
    forbid: bool,
) -> anyhow::Result<CommandOutput> {
    let (scope, agent) = whose.resolve(register).await?;
    register.store().let_stop_others(scope, agent, !forbid).await?;
    Ok(CommandOutput::One(json!({ "agent_id": agent, "stops_others": !forbid })))
}

fn request(args: StopArgs) -> StopSessionRequest {
    let StopArgs { platform, chat, chat_type, thread, user, session, drop_waiting, whose: _ } =
        args;
    StopSessionRequest {
        agent: None,
        session_key: session,
        platform: platform.unwrap_or_default(),
        chat_id: chat.unwrap_or_default(),
        chat_type: Some(chat_type),
        thread_id: thread,
        user_id: user,
        drop_waiting,
    }
}

/// Reads the body of a response up to its maximum.
async fn read_body(mut response: Response) -> anyhow::Result<Vec<u8>> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.context("the node's answer broke off")? {
        ensure!(body.len() + chunk.len() <= ANSWER_BYTES_MAX, "the node's answer is too long");
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

async fn call(
    url: &str,
    authorization: &str,
    request: &StopSessionRequest,
) -> anyhow::Result<StopResponse> {
    let base = BaseUrl::parse(url, "https://desk.example")?;
    let target = base.join(ROUTE).context("listen.public_url is no URL")?;
    let call = HttpClient::open()?
        .request(Method::POST, target)
        .timeout(ANSWER_WAIT)
        .header(AUTHORIZATION, authorization)
        .header(CONTENT_TYPE, "application/json")
        .body(serde_json::to_vec(request)?);
    let response = call.send().await.with_context(|| {
        format!("no node of the desk answers at {url}; start one, or correct listen.public_url")
    })?;
    let status = response.status();
    let body = read_body(response).await?;
    if !status.is_success() {
        let problem: Value = serde_json::from_slice(&body).unwrap_or_default();
        bail!("the desk refused it: {}", problem["detail"].as_str().unwrap_or(status.as_str()));
    }
    serde_json::from_slice(&body).context("the node's answer is not that of this release")
}
