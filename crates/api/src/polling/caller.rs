//! The gateway that calls a line's routes.

use axum::extract::{FromRef, FromRequestParts};
use axum::http::HeaderValue;
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use nightdesk_desk::LimitedAction;
use nightdesk_letters::Party;
use nightdesk_line::upgrade::bearer_token;
use nightdesk_line::{AuthenticatedGateway, ConnectionProof, IdentifyOutcome};
use nightdesk_protocol::Bearer;

use crate::extract::AuthenticatedAgent;
use crate::peers::PeerRequest;
use crate::problem::{self, OrUnavailable, Problem};
use crate::state::ApiState;

/// The gateway of a request to a line: that of the upgrade token, or the newest one of the agent whose token it is.
pub(crate) struct LineCaller {
    pub(crate) gateway: AuthenticatedGateway,
    /// The credential, for the node that holds the line.
    pub(super) authorization: HeaderValue,
    /// True if another node passed the request on.
    pub(super) is_passed_on: bool,
}

impl<S: Send + Sync> FromRequestParts<S> for LineCaller
where
    ApiState: FromRef<S>,
{
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let api = ApiState::from_ref(state);
        let gateway = match find_gateway(parts, &api).await? {
            Some(gateway) => gateway,
            None => gateway_of_agent(parts, &api).await?,
        };
        ConnectionProof::record_in(&parts.extensions);
        let agent = Party { scope: gateway.scope, agent: gateway.agent };
        api.count_call(LimitedAction::Line, agent)?;
        let authorization = parts.headers.get(AUTHORIZATION).cloned();
        let authorization = authorization.unwrap_or(HeaderValue::from_static(""));
        let is_passed_on = parts.headers.contains_key(PeerRequest::MARK);
        Ok(Self { gateway, authorization, is_passed_on })
    }
}

impl LineCaller {
    /// The caller of a tool, an agent whose credential was verified.
    pub(crate) async fn of_agent(
        api: &ApiState,
        party: Party,
        authorization: Option<HeaderValue>,
    ) -> Result<Self, Problem> {
        let gateway = newest_gateway(api, party).await?;
        let authorization = authorization.unwrap_or(HeaderValue::from_static(""));
        Ok(Self { gateway, authorization, is_passed_on: false })
    }
}

/// Finds the gateway whose credential may open a WebSocket, too. `None`: it is no such credential.
async fn find_gateway(
    parts: &Parts,
    api: &ApiState,
) -> Result<Option<AuthenticatedGateway>, Problem> {
    let now = api.now();
    let Some(shown) = bearer_token(&parts.headers).and_then(|text| Bearer::read(text, now)) else {
        return Ok(None);
    };
    let room = &api.line_context;
    let identified = room.desk.identify(&shown, now, &room.dials).await;
    match identified.or_unavailable("a gateway could not be identified")? {
        IdentifyOutcome::Welcome(gateway) => Ok(Some(gateway)),
        IdentifyOutcome::Revoked => {
            Err(problem::REVOKED
                .with_detail("the gateway was revoked; ask the operator for another"))
        }
        IdentifyOutcome::Unknown => Ok(None),
    }
}

/// Finds the gateway of an agent that shows another token of its own, and refuses any other caller.
async fn gateway_of_agent(
    parts: &mut Parts,
    api: &ApiState,
) -> Result<AuthenticatedGateway, Problem> {
    let AuthenticatedAgent(agent) = AuthenticatedAgent::from_request_parts(parts, api).await?;
    newest_gateway(api, agent).await
}

async fn newest_gateway(api: &ApiState, party: Party) -> Result<AuthenticatedGateway, Problem> {
    let found = api.desk.line.gateway_of(party.scope, party.agent).await;
    found.or_unavailable("a gateway could not be looked up")?.ok_or_else(|| {
        problem::FORBIDDEN.with_detail(
            "the agent has no gateway; the operator creates one with `nightdesk gateway create`",
        )
    })
}
