//! `POST /mcp`: the desk's tools, for agents that speak MCP.
//!
//! Callers authenticate as for letters and for the shelf, and a tool calls the same functions as the route for the same task.

mod letters;
mod shelf;

use std::sync::Arc;

use async_trait::async_trait;
use axum::body::Body;
use axum::extract::{FromRef, Request, State};
use axum::http::HeaderValue;
use axum::http::header::CONNECTION;
use axum::response::{IntoResponse, Response};
use nightdesk_desk::Desk;
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
        let tools = Server::new(Arc::new(DeskTools(Arc::clone(&api.desk))));
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
    let ShelfAgent(agent) = agent?;
    Ok(mcp.tools.respond(agent, request).await.map(Body::new))
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

/// The desk's tools.
pub(crate) struct DeskTools(Arc<Desk>);

#[async_trait]
impl Tools for DeskTools {
    type Caller = Party;

    async fn call(&self, caller: &Party, tool: Tool, call: ToolCall) -> Result<Value, ToolError> {
        // The task goes on if the client disconnects: the bell must ring for a stored letter.
        let (desk, agent) = (Arc::clone(&self.0), *caller);
        let calling =
            self.0.stops.tasks.spawn(async move { call_tool(&desk, agent, tool, call).await });
        let stopping = "the desk is stopping; call again";
        calling.await.unwrap_or_else(|_| Err(ToolError::Unavailable(stopping.into())))
    }
}

async fn call_tool(
    desk: &Desk,
    agent: Party,
    tool: Tool,
    call: ToolCall,
) -> Result<Value, ToolError> {
    match tool {
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
