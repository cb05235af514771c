//! What the routes that gateways post to share: who asks, how much, and what the others are
//! told.

use std::error::Error;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::body::{Body, Bytes, to_bytes};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use nightdesk_desk::{Desk, What};
use nightdesk_line::Room;
use nightdesk_line::upgrade::bearer;
use nightdesk_mcp::Server;
use nightdesk_protocol::Bearer;
use nightdesk_register::enrolment::Identity;
use nightdesk_register::{Called, Caller, Issuer};
use nightdesk_types::Timestamp;
use nightdesk_types::limits::{GATEWAY_BODY_BYTES_MAX, GATEWAY_BODY_WAIT};
use serde::de::DeserializeOwned;
use tokio::time::timeout;

use crate::agent_cron::Relays;
use crate::mcp::{self, DeskTools};
use crate::problem::{self, Problem};

/// What those routes stand in front of.
pub(crate) struct Gateways {
    pub(crate) desk: Arc<Desk>,
    room: Arc<Room>,
    pub(crate) relays: Relays,
    pub(crate) tools: Server<DeskTools>,
}

impl Gateways {
    pub(crate) fn new(desk: Arc<Desk>, room: Arc<Room>, relays: Relays) -> Self {
        let tools = mcp::server(&desk);
        Self { desk, room, relays, tools }
    }

    /// The desk's own issuer.
    pub(crate) fn issuer(&self) -> &Issuer {
        self.desk.issuers.own()
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.room.clock.now()
    }

    /// Counts a failure of an address. Answers whether it is still within its limit. Who shows
    /// something good is never asked.
    pub(crate) fn may_fail(&self, address: IpAddr) -> bool {
        self.room.failures.count(address, self.room.clock.moment())
    }

    /// For whom a machine asks, by its access token.
    pub(crate) async fn identity(
        &self,
        headers: &HeaderMap,
        from: SocketAddr,
    ) -> Result<Identity, Response> {
        let identified = match bearer(headers) {
            Some(token) => self.desk.issuers.identify(token, self.now()).await,
            None => Ok(None),
        };
        match identified {
            Ok(Some(identity)) => Ok(identity),
            Ok(None) => Err(self.unauthorized(
                from,
                "show an access token of this desk, from its /oauth/token, with what `nightdesk gateway \
                 token` or `nightdesk issuer session` printed; or one of an issuer that it trusts",
            )),
            Err(error) => Err(try_later(&error, "a client could not be identified")),
        }
    }

    /// Who asks: an agent, by a token of an issuer for it or by its gateway's own. Neither is
    /// tried as the other.
    pub(crate) async fn caller(
        &self,
        headers: &HeaderMap,
        from: SocketAddr,
    ) -> Result<Caller, Response> {
        let (now, Desk { register, issuers, .. }) = (self.now(), &*self.desk);
        let found = match bearer(headers).and_then(|text| Bearer::read(text, now)) {
            Some(shown) => register.caller(issuers, &shown, now).await,
            None => Ok(None),
        };
        match found {
            Ok(Some(Called::Known(caller))) => self.in_its_turn(caller).await,
            Ok(Some(Called::Revoked(_)) | None) => Err(self.unauthorized(
                from,
                "show an upgrade token signed with a live gateway's secret, or a token of a trusted \
                 issuer for agent:{id}",
            )),
            Err(error) => Err(try_later(&error, "a caller could not be identified")),
        }
    }

    /// Counts a call of an agent.
    async fn in_its_turn(&self, caller: Caller) -> Result<Caller, Response> {
        let agent = caller.agent.to_string();
        let counted = self.desk.limits.allow_among_all(What::Management, &agent).await;
        let told = |_| problem::TOO_MANY.said("at most sixty calls a minute for an agent; wait");
        counted.map(|()| caller).map_err(told)
    }

    /// What who shows nothing good is told.
    pub(crate) fn unauthorized(&self, from: SocketAddr, what_to_do: &str) -> Response {
        if self.may_fail(from.ip()) {
            let bearer = [(header::WWW_AUTHENTICATE, "Bearer")];
            return (bearer, problem::UNAUTHORIZED.said(what_to_do)).into_response();
        }
        too_many()
    }
}

/// What who failed too often is told, whatever they show that is not good.
pub(crate) fn too_many() -> Response {
    problem::TOO_MANY.said("too many bad tokens from this address; wait a minute")
}

/// Reads a body within its bounds.
pub(crate) async fn read_body(body: Body) -> Result<Bytes, Response> {
    read_up_to(GATEWAY_BODY_BYTES_MAX, body).await
}

async fn read_up_to(bytes_max: usize, body: Body) -> Result<Bytes, Response> {
    match timeout(GATEWAY_BODY_WAIT, to_bytes(body, bytes_max)).await {
        Ok(Ok(body)) => Ok(body),
        Ok(Err(_)) => Err(refuse(StatusCode::PAYLOAD_TOO_LARGE, "the body is too long")),
        Err(_) => Err(refuse(StatusCode::REQUEST_TIMEOUT, "the body did not come in time")),
    }
}

/// Reads a JSON body within its bounds; `wants` says what it should have been.
pub(crate) async fn read_json<T: DeserializeOwned>(body: Body, wants: &str) -> Result<T, Response> {
    read_json_up_to(GATEWAY_BODY_BYTES_MAX, body, wants).await
}

/// The same, of a body that may be so long.
pub(crate) async fn read_json_up_to<T: DeserializeOwned>(
    bytes_max: usize,
    body: Body,
    wants: &str,
) -> Result<T, Response> {
    let body = read_up_to(bytes_max, body).await?;
    // What the parser says may hold a part of the body, and so a token.
    serde_json::from_slice(&body).map_err(|_| refuse(StatusCode::BAD_REQUEST, wants))
}

/// An answer that says what to do next.
pub(crate) fn refuse(status: StatusCode, what_to_do: &str) -> Response {
    Problem::of(status).said(what_to_do)
}

/// Something of ours failed; the same call may succeed later.
pub(crate) fn try_later(error: &(dyn Error + 'static), what: &str) -> Response {
    tracing::warn!(error, "{what}");
    problem::UNAVAILABLE.said("the desk cannot answer just now, and nothing was changed; try again")
}
