//! Tools for the line of an agent that has no connection of its own.

use nightdesk_mcp::ToolError;
use nightdesk_protocol::http::line::{AckRequest, SendRequest, StoppedRequest, TakeRequest};
use nightdesk_types::Transport;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::{ToolCaller, read_arguments, write_result};
use crate::peers::PeerResponse;
use crate::polling::{
    LineCaller, LineRequestBody, ack_entries, pass_on, report_stopped, send_action, take_frames,
};
use crate::problem::Problem;
use crate::state::ApiState;

pub(super) async fn take(
    api: &ApiState,
    caller: &ToolCaller,
    arguments: Map<String, Value>,
) -> Result<Value, ToolError> {
    let (caller, request) = prepare::<TakeRequest>(api, caller, arguments).await?;
    if let Some(passed_on) =
        pass_on(api, &caller, &request).await.map_err(|problem| tool_error(&problem))?
    {
        return result_of(&passed_on);
    }
    let taken = take_frames(api, &caller, request, Transport::Mcp).await;
    write_result(taken.map_err(|problem| tool_error(&problem))?)
}

pub(super) async fn ack(
    api: &ApiState,
    caller: &ToolCaller,
    arguments: Map<String, Value>,
) -> Result<Value, ToolError> {
    let (caller, request) = prepare::<AckRequest>(api, caller, arguments).await?;
    let count = request.buffer_ids.len();
    match pass_on(api, &caller, &request).await.map_err(|problem| tool_error(&problem))? {
        Some(passed_on) => drop(result_of(&passed_on)?),
        None => ack_entries(api, &caller, request).map_err(|problem| tool_error(&problem))?,
    }
    Ok(json!({ "taken": count }))
}

pub(super) async fn stopped(
    api: &ApiState,
    caller: &ToolCaller,
    arguments: Map<String, Value>,
) -> Result<Value, ToolError> {
    let (caller, request) = prepare::<StoppedRequest>(api, caller, arguments).await?;
    match pass_on(api, &caller, &request).await.map_err(|problem| tool_error(&problem))? {
        Some(passed_on) => drop(result_of(&passed_on)?),
        None => report_stopped(api, &caller, &request).map_err(|problem| tool_error(&problem))?,
    }
    Ok(json!({ "taken": true }))
}

pub(super) async fn send(
    api: &ApiState,
    caller: &ToolCaller,
    arguments: Map<String, Value>,
) -> Result<Value, ToolError> {
    let (caller, request) = prepare::<SendRequest>(api, caller, arguments).await?;
    if let Some(passed_on) =
        pass_on(api, &caller, &request).await.map_err(|problem| tool_error(&problem))?
    {
        return result_of(&passed_on);
    }
    write_result(send_action(api, &caller, &request).await.map_err(|problem| tool_error(&problem))?)
}

/// Reads the arguments of a call, and finds the gateway as which its agent calls.
async fn prepare<R: LineRequestBody + DeserializeOwned>(
    api: &ApiState,
    caller: &ToolCaller,
    arguments: Map<String, Value>,
) -> Result<(LineCaller, R), ToolError> {
    let request = read_arguments(arguments)?;
    let caller = LineCaller::of_agent(api, caller.party, caller.authorization.clone()).await;
    Ok((caller.map_err(|problem| tool_error(&problem))?, request))
}

/// Returns the result of a request that another node served.
fn result_of(response: &PeerResponse) -> Result<Value, ToolError> {
    let body = serde_json::from_slice(&response.body).unwrap_or(Value::Null);
    let detail = || body["detail"].as_str().unwrap_or("another node refused it").to_owned();
    if response.status.is_server_error() {
        return Err(ToolError::Unavailable(detail()));
    }
    if response.status.is_client_error() {
        return Err(ToolError::Refused(detail()));
    }
    Ok(body)
}

pub(super) fn tool_error(problem: &Problem) -> ToolError {
    let detail = problem.detail().to_owned();
    if problem.is_temporary() { ToolError::Unavailable(detail) } else { ToolError::Refused(detail) }
}
