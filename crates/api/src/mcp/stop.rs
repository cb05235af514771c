//! The tool that stops running turns.

use nightdesk_desk::LimitedAction;
use nightdesk_desk::stopping::StopOrigin;
use nightdesk_letters::Party;
use nightdesk_mcp::ToolError;
use serde_json::{Map, Value};

use super::line::tool_error;
use super::{read_arguments, write_result};
use crate::state::ApiState;
use crate::stops;

pub(super) async fn stop(
    api: &ApiState,
    agent: Party,
    arguments: Map<String, Value>,
) -> Result<Value, ToolError> {
    let request = read_arguments(arguments)?;
    api.count_call(LimitedAction::Stop, agent).map_err(|problem| tool_error(&problem))?;
    let stopped = stops::stop(api, agent, request, StopOrigin::Tool).await;
    write_result(stopped.map_err(|problem| tool_error(&problem))?)
}
