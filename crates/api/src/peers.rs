//! The other nodes of the cell, which hold the lines that this node does not.

use async_trait::async_trait;
use axum::body::Bytes;
use axum::http::header::{CONTENT_TYPE, RETRY_AFTER};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};

/// A request that goes on to the node that holds its line.
#[derive(Debug)]
pub struct PeerRequest {
    /// The path of the route.
    pub path: &'static str,
    /// The caller's credential, which the other node verifies again.
    pub authorization: HeaderValue,
    /// The body, as JSON.
    pub body: Bytes,
}

/// The response of another node.
#[derive(Debug)]
pub struct PeerResponse {
    /// The status.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
}

/// The reason why another node gave no response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PeerError {
    /// The node does not live, and its lines ended with it.
    Gone,
    /// The node lives, and could not be reached.
    Unreachable,
}

/// Passes requests on to other nodes.
#[async_trait]
pub trait PeerNodes: Send + Sync {
    /// Sends a request to a node and returns the response.
    async fn pass_on(&self, node: &str, request: PeerRequest) -> Result<PeerResponse, PeerError>;
}

/// The peers of a desk with one node.
#[derive(Clone, Copy, Debug)]
pub struct NoPeerNodes;

#[async_trait]
impl PeerNodes for NoPeerNodes {
    async fn pass_on(&self, _: &str, _: PeerRequest) -> Result<PeerResponse, PeerError> {
        Err(PeerError::Gone)
    }
}

impl PeerRequest {
    /// The header that marks the request, so that it is passed on once.
    pub const MARK: HeaderName = HeaderName::from_static("nightdesk-passed-on");
}

impl IntoResponse for PeerResponse {
    fn into_response(self) -> Response {
        let Self { status, headers, body } = self;
        let passed = [CONTENT_TYPE, RETRY_AFTER]
            .into_iter()
            .filter_map(|name| Some((name.clone(), headers.get(&name)?.clone())));
        let headers: HeaderMap = passed.collect();
        (status, headers, body).into_response()
    }
}
