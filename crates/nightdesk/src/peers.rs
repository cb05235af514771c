//! Passes requests of polling agents on to the node that holds their line.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use nightdesk_api::{PeerError, PeerNodes, PeerRequest, PeerResponse};
use nightdesk_kit::{BaseUrl, HttpClient};
use nightdesk_lease::PeerDirectory;
use nightdesk_types::limits::{FRAME_OUT_BYTES_MAX, TAKE_WAIT_MAX, WINDOW_ENTRIES_MAX};
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE};
use reqwest::{Method, Response};

/// Time for a request beside the time that a take may wait.
const PASSED_ON_WAIT: Duration = Duration::from_secs(5);

/// Longest response of another node: a full window, and as much again for descriptors.
const RESPONSE_BYTES_MAX: usize = 2 * WINDOW_ENTRIES_MAX * FRAME_OUT_BYTES_MAX;

/// The form of a node's URL.
const URL_FORM: &str = "http://10.0.0.5:8800";

/// The other nodes, over HTTP.
pub(crate) struct HttpPeers {
    client: HttpClient,
    directory: Arc<dyn PeerDirectory>,
}

impl HttpPeers {
    /// Creates the client.
    pub(crate) fn open(directory: Arc<dyn PeerDirectory>) -> anyhow::Result<Self> {
        Ok(Self { client: HttpClient::open()?, directory })
    }

    async fn send(&self, url: &str, request: PeerRequest) -> anyhow::Result<PeerResponse> {
        let PeerRequest { path, authorization, body } = request;
        let base = BaseUrl::parse(url, URL_FORM)?;
        let target = base.join(path.trim_start_matches('/'));
        let target = target.ok_or_else(|| anyhow::anyhow!("no URL of a node: {url}"))?;
        let request = self.client.request(Method::POST, target);
        let request = request
            .timeout(TAKE_WAIT_MAX + PASSED_ON_WAIT)
            .header(AUTHORIZATION, authorization)
            .header(CONTENT_TYPE, "application/json")
            .header(PeerRequest::MARK, "1")
            .body(body);
        read_response(request.send().await?).await
    }
}

#[async_trait]
impl PeerNodes for HttpPeers {
    async fn pass_on(&self, node: &str, request: PeerRequest) -> Result<PeerResponse, PeerError> {
        let peer = self.directory.find_peer(node).await.map_err(|error| {
            tracing::warn!(error = &error as &dyn Error, "could not look up a node");
            PeerError::Unreachable
        })?;
        let Some(url) = peer.url.filter(|_| peer.is_living) else { return Err(PeerError::Gone) };
        self.send(&url, request).await.map_err(|error| {
            tracing::warn!(node, "node {node} did not answer at {url}: {error:#}");
            PeerError::Unreachable
        })
    }
}

/// Reads a response up to the maximum size.
async fn read_response(mut response: Response) -> anyhow::Result<PeerResponse> {
    let (status, headers) = (response.status(), response.headers().clone());
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        anyhow::ensure!(body.len() + chunk.len() <= RESPONSE_BYTES_MAX, "the response is too long");
        body.extend_from_slice(&chunk);
    }
    Ok(PeerResponse { status, headers, body: body.into() })
}
