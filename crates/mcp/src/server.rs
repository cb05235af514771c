//! The MCP server: receives calls, runs them, and answers.

use std::convert::Infallible;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use http::request::Parts;
use http::{Request, Response};
use http_body::Body;
use http_body_util::combinators::BoxBody;
use nightdesk_types::limits::MCP_BYTES_MAX;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ErrorData, Implementation, JsonObject,
    ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{RoleServer, ServerHandler};
use serde_json::Value;

use crate::tool::Tool;

/// The instructions that a client reads before its first call.
const INSTRUCTIONS: &str = "Reach other agents, even while they sleep, and share skills and data with them. \
    notify delivers a message; an address with @session wakes; exchange waits for the reply. \
    Set dispatch_id if you may repeat a call: calls with the same id are the same letter.";

/// The response to a request.
pub type ToolResponse = Response<BoxBody<Bytes, Infallible>>;

/// A call of a tool.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolCall {
    /// The client's id of the call. A client that retries after a missing response uses the same id.
    pub id: String,
    /// The arguments.
    pub arguments: JsonObject,
}

/// The reason that a call failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToolError {
    /// The call is wrong; the text names the required change.
    Refused(String),
    /// The same call may succeed later.
    Unavailable(String),
}

/// Runs tools.
#[async_trait]
pub trait Tools: Send + Sync + 'static {
    /// The authenticated caller.
    type Caller: Clone + Send + Sync + 'static;

    /// Runs a call. A repeated call with the same id changes nothing twice.
    async fn call(
        &self,
        caller: &Self::Caller,
        tool: Tool,
        call: ToolCall,
    ) -> Result<Value, ToolError>;
}

/// Serves calls over HTTP.
#[must_use = "a server does nothing until it is asked"]
pub struct Server<T: Tools>(StreamableHttpService<Handler<T>, NeverSessionManager>);

impl<T: Tools> std::fmt::Debug for Server<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Server")
    }
}

impl<T: Tools> Server<T> {
    /// Creates a server of these tools.
    pub fn new(tools: Arc<T>) -> Self {
        // The caller presents a credential that no page of another site has, so host names need no check.
        let config = StreamableHttpServerConfig::default()
            .disable_allowed_hosts()
            .with_legacy_session_mode(false)
            .with_max_request_body_bytes(MCP_BYTES_MAX);
        let handler = move || Ok(Handler(Arc::clone(&tools)));
        Self(StreamableHttpService::new(handler, Arc::default(), config))
    }

    /// Answers a request of this authenticated caller.
    pub async fn respond<B>(&self, caller: T::Caller, mut request: Request<B>) -> ToolResponse
    where
        B: Body<Data: Send, Error: std::fmt::Display> + Send + 'static,
    {
        request.extensions_mut().insert(caller);
        self.0.handle(request).await
    }
}

struct Handler<T>(Arc<T>);

impl<T: Tools> ServerHandler for Handler<T> {
    fn get_info(&self) -> ServerConfig {
        let tools = ServerCapabilities::builder().enable_tools().build();
        ServerConfig::new(tools)
            .with_server_info(Implementation::new("nightdesk", env!("CARGO_PKG_VERSION")))
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(Tool::ALL.map(Tool::to_mcp).to_vec()))
    }

    async fn call_tool(
        &self,
        asked: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let tool = Tool::from_slug(&asked.name).ok_or_else(|| {
            invalid_request(format!("there is no tool {}; tools/list lists them", asked.name))
        })?;
        let caller = context.extensions.get::<Parts>().and_then(|parts| parts.extensions.get());
        let caller: &T::Caller = caller
            .ok_or_else(|| ErrorData::internal_error("the caller is not authenticated", None))?;
        let call =
            ToolCall { id: context.id.to_string(), arguments: asked.arguments.unwrap_or_default() };
        match self.0.call(caller, tool, call).await {
            Ok(value) => Ok(CallToolResult::structured(value).into()),
            Err(ToolError::Refused(words)) => Err(invalid_request(words)),
            Err(ToolError::Unavailable(words)) => Err(ErrorData::internal_error(words, None)),
        }
    }
}

fn invalid_request(words: String) -> ErrorData {
    ErrorData::invalid_params(words, None)
}
