//! `POST /mcp`: the desk's tools, for agents that speak MCP.
//!
//! Who calls is known as for letters and for the shelf, and a tool does what the route does that is for the same.

mod letters;
mod shelf;

use std::net::SocketAddr;
use std::sync::Arc;

use async_trait::async_trait;
use axum::body::Body;
use axum::extract::{ConnectInfo, Request, State};
use axum::http::HeaderValue;
use axum::http::header::CONNECTION;
use axum::response::Response;
use nightdesk_desk::Desk;
use nightdesk_desk::shelf::Asker;
use nightdesk_mcp::{Call, Failed, Server, Tool, Tools};
use nightdesk_protocol::http::letters::Op;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::gateways::Gateways;
use crate::problem::Refusals;
use crate::shelf::asker;

pub(crate) fn routes() -> OpenApiRouter<Arc<Gateways>> {
    OpenApiRouter::new().routes(routes!(call))
}

/// The desk's tools by MCP, as streamable HTTP without sessions: an answer is the last event of a stream.
#[utoipa::path(
    post, path = "/mcp", tag = "tools", security(("access_token" = []), ("agent" = [])),
    request_body(content = serde_json::Value, description = "A JSON-RPC request of MCP"),
    responses(
        (status = 200, description = "Events, each a JSON-RPC message", content_type = "text/event-stream", body = String),
        Refusals,
    )
)]
async fn call(
    State(gateways): State<Arc<Gateways>>,
    ConnectInfo(from): ConnectInfo<SocketAddr>,
    request: Request,
) -> Response {
    let asker = match asker(&gateways, request.headers(), from).await {
        Ok(asker) => asker,
        Err(refused) => return hanging_up(refused),
    };
    gateways.tools.answer(asker, request).await.map(Body::new)
}

/// An answer to a request that was not read to its end: nothing can come after it, and its client should know.
fn hanging_up(mut answer: Response) -> Response {
    answer.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    answer
}

/// A server of the desk's tools.
pub(crate) fn server(desk: &Arc<Desk>) -> Server<DeskTools> {
    Server::new(Arc::new(DeskTools(Arc::clone(desk))))
}

/// What the tools stand in front of.
pub(crate) struct DeskTools(Arc<Desk>);

#[async_trait]
impl Tools for DeskTools {
    type Caller = Asker;

    async fn call(&self, caller: &Asker, tool: Tool, call: Call) -> Result<Value, Failed> {
        // Whoever hangs up does not stop the work: what was stored must be rung for.
        let (desk, asker) = (Arc::clone(&self.0), *caller);
        let done = self.0.tasks.spawn(async move { done(&desk, asker, tool, call).await }).await;
        done.unwrap_or_else(|_| Err(Failed::Unavailable("the desk is stopping; call again".into())))
    }
}

async fn done(desk: &Arc<Desk>, asker: Asker, tool: Tool, call: Call) -> Result<Value, Failed> {
    let with = call.arguments;
    match tool {
        Tool::ListAgents => letters::list_agents(desk, asker).await,
        Tool::Notify => letters::send(desk, asker, Op::Notify, (&call.id, with)).await,
        Tool::Wake => letters::send(desk, asker, Op::Wake, (&call.id, with)).await,
        Tool::Exchange => letters::send(desk, asker, Op::Exchange, (&call.id, with)).await,
        Tool::SkillList => shelf::skill_list(&desk.shelf, asker, with).await,
        Tool::SkillRead => shelf::skill_read(&desk.shelf, asker, with).await,
        Tool::SkillWrite => shelf::skill_write(&desk.shelf, asker, with).await,
        Tool::SkillStatus => shelf::skill_status(&desk.shelf, asker, with).await,
        Tool::DataQuery => shelf::data_query(&desk.shelf, asker, with).await,
        Tool::DataRead => shelf::data_read(&desk.shelf, asker, with).await,
        Tool::DataWrite => shelf::data_write(&desk.shelf, asker, with).await,
    }
}

/// What a tool is given.
fn given<T: DeserializeOwned>(arguments: Map<String, Value>) -> Result<T, Failed> {
    let read = serde_json::from_value(Value::Object(arguments));
    read.map_err(|error| Failed::Refused(format!("these arguments cannot be used: {error}")))
}

/// What a tool gives.
fn told(what: impl Serialize) -> Result<Value, Failed> {
    let told = serde_json::to_value(what);
    told.map_err(|_| Failed::Unavailable("the answer cannot be written".to_owned()))
}
