//! Requests to lines, each served by the node that holds the line.

use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::response::{IntoResponse, Response};
use nightdesk_line::{AuthenticatedGateway, PollError};

use super::caller::LineCaller;
use super::{LineRequestBody, UnnamedLine, poll_problem, read_line_name};
use crate::extract::JsonBody;
use crate::peers::{PeerError, PeerRequest, PeerResponse};
use crate::problem::{self, OrUnavailable, Problem};
use crate::state::ApiState;

/// A request to a line of this node. A request to a line of another node is passed on instead.
pub(super) struct LocalRequest<R> {
    pub(super) caller: LineCaller,
    pub(super) request: R,
}

/// The response to a request that this node does not serve.
pub(super) enum LineRejection {
    /// Another node served it.
    PassedOn(PeerResponse),
    /// It is refused.
    Refused(Problem),
}

impl<R: LineRequestBody + Send + Sync> FromRequest<ApiState> for LocalRequest<R> {
    type Rejection = LineRejection;

    async fn from_request(request: Request, api: &ApiState) -> Result<Self, LineRejection> {
        let (mut parts, body) = request.into_parts();
        let caller = LineCaller::from_request_parts(&mut parts, api).await?;
        let request = Request::from_parts(parts, body);
        let JsonBody(request) = JsonBody::<R>::from_request(request, api).await?;
        match pass_on(api, &caller, &request).await? {
            Some(response) => Err(LineRejection::PassedOn(response)),
            None => Ok(Self { caller, request }),
        }
    }
}

impl From<Problem> for LineRejection {
    fn from(problem: Problem) -> Self {
        Self::Refused(problem)
    }
}

impl IntoResponse for LineRejection {
    fn into_response(self) -> Response {
        match self {
            Self::PassedOn(response) => response.into_response(),
            Self::Refused(problem) => problem.into_response(),
        }
    }
}

/// Passes a request on to the node that holds its line. `None`: this node does.
pub(crate) async fn pass_on<R: LineRequestBody>(
    api: &ApiState,
    caller: &LineCaller,
    request: &R,
) -> Result<Option<PeerResponse>, Problem> {
    if let Some(line) = request.line() {
        return pass_on_to(api, caller, read_line_name(line)?.node(), request).await;
    }
    let is_opened = match R::UNNAMED {
        UnnamedLine::New => return Ok(None),
        UnnamedLine::Posted => false,
        UnnamedLine::PostedOrOpened => true,
    };
    let AuthenticatedGateway { scope, agent, .. } = caller.gateway;
    let holder = api.line_context.store.find_held_line(scope, agent).await;
    match holder.or_unavailable("the holder of a line could not be looked up")? {
        Some(line) => pass_on_to(api, caller, &line.node.name, request).await,
        None if is_opened && has_webhook(api, caller).await? => {
            api.posted.open(caller.gateway);
            Ok(None)
        }
        None => Err(poll_problem(PollError::Gone(None))),
    }
}

async fn has_webhook(api: &ApiState, caller: &LineCaller) -> Result<bool, Problem> {
    let AuthenticatedGateway { scope, agent, .. } = caller.gateway;
    let webhook = api.desk.stops.records.webhook(scope, agent).await;
    Ok(webhook.or_unavailable("a webhook could not be looked up")?.is_some())
}

async fn pass_on_to<R: LineRequestBody>(
    api: &ApiState,
    caller: &LineCaller,
    node: &str,
    request: &R,
) -> Result<Option<PeerResponse>, Problem> {
    if node == api.line_context.node.name {
        return Ok(None);
    }
    if caller.is_passed_on {
        return Err(poll_problem(PollError::Gone(None)));
    }
    let body = serde_json::to_vec(request).unwrap_or_default();
    let passed_on = PeerRequest {
        path: R::PATH,
        authorization: caller.authorization.clone(),
        body: body.into(),
    };
    match api.peers.pass_on(node, passed_on).await {
        Ok(response) => Ok(Some(response)),
        Err(PeerError::Gone) => Err(poll_problem(PollError::Gone(None))),
        Err(PeerError::Unreachable) => Err(problem::UNAVAILABLE
            .with_detail("the node that holds the line does not respond; repeat the request")),
    }
}
