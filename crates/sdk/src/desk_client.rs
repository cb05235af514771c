//! HTTP requests to the desk besides the line, each with a timeout.

mod login;

use std::error::Error;
use std::time::Duration;

use reqwest::{Client, Method, RequestBuilder, StatusCode, Url, redirect};

pub use self::login::Login;
pub(crate) use self::login::TokenSource;
use crate::limits::{ANSWER_BYTES_MAX, ASK_WAIT};
use crate::tls;

/// Sends requests to a desk with a login.
pub(crate) struct DeskClient {
    client: Client,
    /// The desk's URL without a trailing slash.
    desk: String,
    pass: TokenSource,
}

/// The desk's response.
pub(crate) struct DeskResponse {
    pub(crate) status: u16,
    pub(crate) body: Vec<u8>,
}

/// The reason that a request to the desk failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DeskCallError {
    /// No response arrived.
    #[error("could not {0}: the desk did not respond")]
    Unanswered(&'static str, #[source] Box<dyn Error + Send + Sync>),
    /// The desk refused the request.
    #[error("could not {0}: the desk responded with {1}")]
    Refused(&'static str, u16),
    /// The response cannot be read.
    #[error("could not {0}: the desk's response cannot be read")]
    Unreadable(&'static str),
}

/// The reason that settings are invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadDeskSettings {
    /// The desk's URL cannot be called.
    #[error("not the URL of a desk; write it like https://desk.example, without query or user")]
    Desk,
    /// The agent's own URL cannot be called.
    #[error("not the agent's own URL; write it like https://agent.example, without query or user")]
    Callback,
    /// No agent has this id.
    #[error("not the id of an agent; use the one that the desk printed, without a prefix")]
    Agent,
    /// The login lacks a part.
    #[error("the login lacks its token, its name or its secret; use those that the desk printed")]
    Login,
    /// The trusted text is not a certificate.
    #[error("the text contains no certificate; give the authority's certificate as PEM")]
    Certificates,
}

impl DeskResponse {
    /// Returns the body if the status is a success.
    pub(crate) fn into_body(self, what: &'static str) -> Result<Vec<u8>, DeskCallError> {
        match self.status {
            200..=299 => Ok(self.body),
            status => Err(DeskCallError::Refused(what, status)),
        }
    }
}

impl DeskClient {
    pub(crate) const fn new(client: Client, desk: String, pass: TokenSource) -> Self {
        Self { client, desk, pass }
    }

    /// Sends a request with the default timeout.
    pub(crate) async fn request(
        &self,
        what: &'static str,
        method: Method,
        path: &str,
        body: Option<Vec<u8>>,
    ) -> Result<DeskResponse, DeskCallError> {
        self.request_within(ASK_WAIT, what, method, path, body).await
    }

    /// Sends a request; if the token is not valid any more, sends it once more with a new token.
    pub(crate) async fn request_within(
        &self,
        wait: Duration,
        what: &'static str,
        method: Method,
        path: &str,
        body: Option<Vec<u8>>,
    ) -> Result<DeskResponse, DeskCallError> {
        let url = format!("{}{path}", self.desk);
        let ask = || {
            let asked = self.client.request(method.clone(), &url).timeout(wait);
            match &body {
                Some(body) => asked.header("content-type", "application/json").body(body.clone()),
                None => asked,
            }
        };
        let token = self.pass.token(&self.client).await?;
        let said = fetch_response(what, ask().bearer_auth(token.expose())).await?;
        if said.status != StatusCode::UNAUTHORIZED.as_u16() || !self.pass.forget(&token).await {
            return Ok(said);
        }
        let token = self.pass.token(&self.client).await?;
        fetch_response(what, ask().bearer_auth(token.expose())).await
    }
}

/// Returns the body of a successful response.
pub(crate) async fn fetch_body(
    what: &'static str,
    asked: RequestBuilder,
) -> Result<Vec<u8>, DeskCallError> {
    fetch_response(what, asked).await?.into_body(what)
}

async fn fetch_response(
    what: &'static str,
    asked: RequestBuilder,
) -> Result<DeskResponse, DeskCallError> {
    let lost = |error: reqwest::Error| DeskCallError::Unanswered(what, error.without_url().into());
    let mut response = asked.send().await.map_err(lost)?;
    let (status, mut body) = (response.status().as_u16(), Vec::new());
    while let Some(chunk) = response.chunk().await.map_err(lost)? {
        if body.len() + chunk.len() > ANSWER_BYTES_MAX {
            return Err(DeskCallError::Unreadable(what));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(DeskResponse { status, body })
}

/// Returns a client for a desk that also trusts these certificates.
pub(crate) fn client(trusted: &[u8]) -> Result<Client, BadDeskSettings> {
    let roots = tls::roots(trusted).ok_or(BadDeskSettings::Certificates)?;
    let client = Client::builder()
        .tls_backend_preconfigured(tls::config(roots))
        .timeout(ASK_WAIT)
        // Only the settings name the desk's address; a token is sent nowhere else.
        .redirect(redirect::Policy::none())
        .no_proxy()
        .build();
    client.map_err(|_| BadDeskSettings::Certificates)
}

/// Returns the URL of a desk or an agent without a trailing slash.
pub(crate) fn address(url: &str) -> Option<String> {
    let url = url.trim().trim_end_matches('/');
    let read = Url::parse(url).ok()?;
    let plain = read.query().is_none() && read.fragment().is_none() && read.username().is_empty();
    (matches!(read.scheme(), "http" | "https") && plain).then(|| url.to_owned())
}
