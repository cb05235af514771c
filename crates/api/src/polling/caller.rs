//! The gateway that calls a line's routes.

use axum::extract::{FromRef, FromRequestParts};
use axum::http::HeaderValue;
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use nightdesk_desk::LimitedAction;
use nightdesk_letters::Party;
use nightdesk_line::upgrade::bearer_of;
use nightdesk_line::{AuthenticatedGateway, ConnectionProof, IdentifyOutcome};
use nightdesk_protocol::Bearer;

use crate::extract::AuthenticatedAgent;
use crate::peers::PeerRequest;
use crate::problem::{self, OrUnavailable, Problem};
use crate::state::ApiState;

/// The gateway of a request to a line: that of the upgrade token, or that of all access tokens of the agent.
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
        let authorization = parts.headers.get(AUTHORIZATION).cloned();
        let gateway = if let Some(gateway) = find_gateway(&api, authorization.as_ref()).await? {
            gateway
        } else {
            let agent = AuthenticatedAgent::from_request_parts(parts, state).await?;
            gateway_of_tokens(&api, agent.0).await?
        };
        ConnectionProof::record_in(&parts.extensions);
        let agent = Party { scope: gateway.scope, agent: gateway.agent };
        api.count_call(LimitedAction::Line, agent)?;
        let is_passed_on = parts.headers.contains_key(PeerRequest::MARK);
        Ok(Self { gateway, authorization: authorization.unwrap_or(NO_CREDENTIAL), is_passed_on })
    }
}

const NO_CREDENTIAL: HeaderValue = HeaderValue::from_static("");

impl LineCaller {
    /// The caller of a tool, an agent whose credential was verified.
    pub(crate) async fn of_agent(
        api: &ApiState,
        party: Party,
        authorization: Option<HeaderValue>,
    ) -> Result<Self, Problem> {
        let gateway = match find_gateway(api, authorization.as_ref()).await? {
            Some(gateway) => gateway,
            None => gateway_of_tokens(api, party).await?,
        };
        let authorization = authorization.unwrap_or(NO_CREDENTIAL);
        Ok(Self { gateway, authorization, is_passed_on: false })
    }
}

/// Finds the gateway whose credential may open a WebSocket, too. `None`: it is no such credential.
async fn find_gateway(
    api: &ApiState,
    authorization: Option<&HeaderValue>,
) -> Result<Option<AuthenticatedGateway>, Problem> {
    let now = api.now();
    let shown = authorization.and_then(bearer_of).and_then(|text| Bearer::read(text, now));
    let Some(shown) = shown else { return Ok(None) };
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

/// Finds the gateway as which an agent calls with its access tokens.
async fn gateway_of_tokens(api: &ApiState, party: Party) -> Result<AuthenticatedGateway, Problem> {
    let found = api.desk.line.gateway_of(party.scope, party.agent).await;
    found.or_unavailable("a gateway could not be looked up")?.ok_or_else(|| {
        problem::FORBIDDEN.with_detail(
            "the agent has no gateway; the operator creates one with `nightdesk gateway create`",
        )
    })
}
