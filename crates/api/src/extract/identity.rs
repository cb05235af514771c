//! Callers, authenticated by the bearer credential of the request. Tenant and agent come from the stored record.

use axum::extract::{FromRef, FromRequestParts};
use axum::http::request::Parts;
use nightdesk_desk::{LimitedAction, Stops};
use nightdesk_letters::Party;
use nightdesk_line::ConnectionProof;
use nightdesk_line::upgrade::bearer_token;
use nightdesk_protocol::Bearer;
use nightdesk_register::enrolment::Identity;
use nightdesk_register::{Caller, CallerCheck, RegisterError};

use super::client_address;
use crate::problem::{self, OrUnavailable, Problem};
use crate::state::ApiState;

/// A machine identity, authenticated by its access token. The call counts against the agent's rate of provisioning.
pub(crate) struct MachineIdentity(pub(crate) Identity);

impl FromRequestParts<ApiState> for MachineIdentity {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, api: &ApiState) -> Result<Self, Problem> {
        let from = client_address(parts)?;
        let identified = match bearer_token(&parts.headers) {
            Some(token) => api.desk.stops.issuers.identify(token, api.now()).await,
            None => Ok(None),
        };
        let identity = identified.or_unavailable("a client could not be identified")?;
        let identity = identity.ok_or_else(|| {
            api.unauthorized(
                from,
                "send an access token of this desk, from its /oauth/token, with the client that `nightdesk gateway \
                 token` or `nightdesk issuer session` printed; or one of an issuer that the desk trusts",
            )
        })?;
        ConnectionProof::record_in(&parts.extensions);
        let (limits, agent) = (&api.desk.stops.limits, identity.agent.to_string());
        let counted = limits.allow_among_all(LimitedAction::Provision, &agent).await;
        let detail = "at most sixty calls a minute for an agent; wait";
        counted.map_err(|_| problem::TOO_MANY.with_detail(detail))?;
        Ok(Self(identity))
    }
}

/// An agent that manages its reach, its gateway or its files. The credential is an issuer's token for the agent or its
/// gateway's upgrade token; the format selects the check. The call counts against the management rate limit.
pub(crate) struct AgentCaller(pub(crate) Caller);

impl FromRequestParts<ApiState> for AgentCaller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, api: &ApiState) -> Result<Self, Problem> {
        let from = client_address(parts)?;
        let (now, Stops { register, issuers, limits, .. }) = (api.now(), &api.desk.stops);
        let found = match bearer_token(&parts.headers).and_then(|text| Bearer::read(text, now)) {
            Some(shown) => register.caller(issuers, &shown, now).await,
            None => Ok(None),
        };
        let Some(CallerCheck::Known(caller)) =
            found.or_unavailable("a caller could not be identified")?
        else {
            return Err(api.unauthorized(
                from,
                "send an upgrade token signed with a live gateway's secret, or a token of a trusted \
                 issuer for agent:{id}",
            ));
        };
        ConnectionProof::record_in(&parts.extensions);
        let counted =
            limits.allow_among_all(LimitedAction::Management, &caller.agent.to_string()).await;
        let detail = "at most sixty calls a minute for an agent; wait";
        counted.map_err(|_| problem::TOO_MANY.with_detail(detail))?;
        Ok(Self(caller))
    }
}

/// An agent, authenticated by a token for it, by a token of one of its sessions or machine identities, or by its
/// gateway's upgrade token.
pub(crate) struct AuthenticatedAgent(pub(crate) Party);

impl<S: Send + Sync> FromRequestParts<S> for AuthenticatedAgent
where
    ApiState: FromRef<S>,
{
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let (api, from) = (ApiState::from_ref(state), client_address(parts)?);
        let found = match bearer_token(&parts.headers) {
            Some(text) => find_agent(&api, text).await,
            None => Ok(None),
        };
        let agent = found.or_unavailable("an agent could not be identified")?;
        let agent = agent.ok_or_else(|| {
            api.unauthorized(
                from,
                "send an access token of this desk from a session or machine identity of the agent, \
                 one for agent:{id}, or an upgrade token of its gateway",
            )
        })?;
        ConnectionProof::record_in(&parts.extensions);
        Ok(Self(agent))
    }
}

/// Finds the agent of a credential. A token's audience says whether it is for an agent or of an agent's session, so
/// neither is accepted as the other.
async fn find_agent(api: &ApiState, text: &str) -> Result<Option<Party>, RegisterError> {
    let (Stops { register, issuers, .. }, now) = (&api.desk.stops, api.now());
    let Some(shown) = Bearer::read(text, now) else { return Ok(None) };
    match register.caller(issuers, &shown, now).await? {
        Some(CallerCheck::Known(Caller { scope, agent, proof: _ })) => {
            return Ok(Some(Party { scope, agent }));
        }
        Some(CallerCheck::Revoked(_)) => return Ok(None),
        None => {}
    }
    let Bearer::Jwt(token) = shown else { return Ok(None) };
    let identity = issuers.identify(token, now).await?;
    Ok(identity.map(|Identity { scope, agent, .. }| Party { scope, agent }))
}

/// Authenticates an agent, and counts its call against a rate limit.
async fn counted_agent<S>(
    parts: &mut Parts,
    state: &S,
    what: LimitedAction,
) -> Result<Party, Problem>
where
    S: Send + Sync,
    ApiState: FromRef<S>,
{
    let AuthenticatedAgent(agent) = AuthenticatedAgent::from_request_parts(parts, state).await?;
    ApiState::from_ref(state).count_call(what, agent)?;
    Ok(agent)
}

/// An agent whose call counts against the rate limit of jobs.
pub(crate) struct JobAgent(pub(crate) Party);

impl FromRequestParts<ApiState> for JobAgent {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, api: &ApiState) -> Result<Self, Problem> {
        counted_agent(parts, api, LimitedAction::Job).await.map(Self)
    }
}

/// An agent whose call counts against the rate limit of the shelf.
pub(crate) struct ShelfAgent(pub(crate) Party);

impl<S: Send + Sync> FromRequestParts<S> for ShelfAgent
where
    ApiState: FromRef<S>,
{
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        counted_agent(parts, state, LimitedAction::Shelf).await.map(Self)
    }
}
