//! `POST /mcp`: the desk's tools, for agents that speak MCP.
//!
//! Callers authenticate as for letters and for the shelf, and a tool calls the same functions as the route for the same task.

mod letters;
mod line;
mod shelf;
mod stop;

use std::sync::Arc;

use async_trait::async_trait;
use axum::body::Body;
use axum::extract::{FromRef, Request, State};
use axum::http::HeaderValue;
use axum::http::header::{AUTHORIZATION, CONNECTION};
use axum::response::{IntoResponse, Response};
use nightdesk_letters::Party;
use nightdesk_mcp::{Server, Tool, ToolCall, ToolError, Tools};
use nightdesk_protocol::http::letters::LetterOp;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::extract::ShelfAgent;
use crate::problem::{Problem, Problems};
use crate::state::ApiState;

/// The state of the route: that of the others, and the server of the tools.
#[derive(Clone)]
pub(crate) struct McpState {
    api: ApiState,
    tools: Arc<Server<DeskTools>>,
}

impl McpState {
    pub(crate) fn new(api: ApiState) -> Self {
        let tools = Server::new(Arc::new(DeskTools(api.clone())));
        Self { api, tools: Arc::new(tools) }
    }
}

impl FromRef<McpState> for ApiState {
    fn from_ref(mcp: &McpState) -> Self {
        mcp.api.clone()
    }
}

pub(crate) fn routes() -> OpenApiRouter<McpState> {
    OpenApiRouter::new().routes(routes!(call))
}

/// Calls one of the desk's tools by MCP, as streamable HTTP without sessions: the response is the last event of a stream.
#[utoipa::path(
    post, path = "/mcp", tag = "tools", security(("access_token" = []), ("agent" = [])),
    request_body(content = serde_json::Value, description = "A JSON-RPC request of MCP"),
    responses(
        (status = 200, description = "Events, each a JSON-RPC message", content_type = "text/event-stream", body = String),
        Problems,
    )
)]
async fn call(
    State(mcp): State<McpState>,
    agent: Result<ShelfAgent, Problem>,
    request: Request,
) -> Result<Response, ClosingProblem> {
    let ShelfAgent(party) = agent?;
    let authorization = request.headers().get(AUTHORIZATION).cloned();
    let caller = ToolCaller { party, authorization };
    Ok(mcp.tools.respond(caller, request).await.map(Body::new))
}

/// A problem of a request whose body was not read to its end. No other request can follow on the connection.
struct ClosingProblem(Problem);

impl From<Problem> for ClosingProblem {
    fn from(problem: Problem) -> Self {
        Self(problem)
    }
}

impl IntoResponse for ClosingProblem {
    fn into_response(self) -> Response {
        let mut response = self.0.into_response();
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        response
    }
}

/// An agent that calls a tool.
#[derive(Clone)]
pub(crate) struct ToolCaller {
    party: Party,
    /// The credential, for the node that holds the agent's line.
    authorization: Option<HeaderValue>,
}

/// The desk's tools.
pub(crate) struct DeskTools(ApiState);

#[async_trait]
impl Tools for DeskTools {
    type Caller = ToolCaller;

    async fn call(
        &self,
        caller: &ToolCaller,
        tool: Tool,
        call: ToolCall,
    ) -> Result<Value, ToolError> {
        // A take ends when its client disconnects, so that its frames are for the next one.
        if tool == Tool::InboxTake {
            return line::take(&self.0, caller, call.arguments).await;
        }
        // The task goes on if the client disconnects: the bell must ring for a stored letter.
        let (api, caller) = (self.0.clone(), caller.clone());
        let tasks = &self.0.desk.stops.tasks;
        let calling = tasks.spawn(async move { call_tool(&api, &caller, tool, call).await });
        let stopping = "the desk is stopping; call again";
        calling.await.unwrap_or_else(|_| Err(ToolError::Unavailable(stopping.into())))
    }
}

#[expect(clippy::cognitive_complexity, reason = "one arm for each tool, and nothing else")]
async fn call_tool(
    api: &ApiState,
    caller: &ToolCaller,
    tool: Tool,
    call: ToolCall,
) -> Result<Value, ToolError> {
    let (desk, agent) = (&api.desk, caller.party);
    match tool {
        Tool::InboxTake => line::take(api, caller, call.arguments).await,
        Tool::InboxAck => line::ack(api, caller, call.arguments).await,
        Tool::InboxStopped => line::stopped(api, caller, call.arguments).await,
        Tool::Send => line::send(api, caller, call.arguments).await,
        Tool::Stop => stop::stop(api, agent, call.arguments).await,
        Tool::ListAgents => letters::list_agents(&desk.letters, agent).await,
        Tool::Notify => letters::send(&desk.letters, agent, LetterOp::Notify, call).await,
        Tool::Wake => letters::send(&desk.letters, agent, LetterOp::Wake, call).await,
        Tool::Exchange => letters::send(&desk.letters, agent, LetterOp::Exchange, call).await,
        Tool::SkillList => shelf::skill_list(&desk.stops.shelf, agent, call.arguments).await,
        Tool::SkillRead => shelf::skill_read(&desk.stops.shelf, agent, call.arguments).await,
        Tool::SkillWrite => shelf::skill_write(&desk.stops.shelf, agent, call.arguments).await,
        Tool::SkillStatus => shelf::skill_status(&desk.stops.shelf, agent, call.arguments).await,
        Tool::DataQuery => shelf::data_query(&desk.stops.shelf, agent, call.arguments).await,
        Tool::DataRead => shelf::data_read(&desk.stops.shelf, agent, call.arguments).await,
        Tool::DataWrite => shelf::data_write(&desk.stops.shelf, agent, call.arguments).await,
    }
}

/// Reads the arguments of a tool.
fn read_arguments<T: DeserializeOwned>(arguments: Map<String, Value>) -> Result<T, ToolError> {
    let read = serde_json::from_value(Value::Object(arguments));
    read.map_err(|error| ToolError::Refused(format!("these arguments cannot be used: {error}")))
}

/// Writes the result of a tool.
fn write_result(result: impl Serialize) -> Result<Value, ToolError> {
    let written = serde_json::to_value(result);
    written.map_err(|_| ToolError::Unavailable("the result cannot be encoded as JSON".to_owned()))
}
