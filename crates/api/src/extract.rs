//! Extractors: callers by their credentials, bodies within their bounds, and query strings.

mod body;
mod identity;
mod query;
mod user;

use std::net::SocketAddr;

use axum::extract::{ConnectInfo, FromRequestParts};
use axum::http::request::Parts;

pub(crate) use body::{JsonBody, RequestBody, read_body};
pub(crate) use identity::{AgentCaller, AuthenticatedAgent, JobAgent, MachineIdentity, ShelfAgent};
pub(crate) use query::{QueryParameters, UrlQuery};
pub(crate) use user::{
    AgentAccess, DeskAccess, Manage, ManageUsers, Operate, Read, ReadAudit, SignedIn, TenantAccess,
    Work,
};

use crate::problem::{self, Problem};

/// The client's address, for routes that count failures.
pub(crate) struct ClientAddress(pub(crate) SocketAddr);

impl<S: Send + Sync> FromRequestParts<S> for ClientAddress {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        client_address(parts).map(Self)
    }
}

/// The client's address, which the listener adds to each request.
pub(crate) fn client_address(parts: &Parts) -> Result<SocketAddr, Problem> {
    let address = parts.extensions.get::<ConnectInfo<SocketAddr>>();
    let ConnectInfo(from) = address.ok_or_else(|| {
        tracing::error!("a request has no client address");
        problem::UNAVAILABLE.with_detail("the desk cannot respond at the moment; retry")
    })?;
    Ok(*from)
}
