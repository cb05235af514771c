//! Asking: what is asked of the desk beside the line, each within its time.

mod login;

use std::error::Error;
use std::time::Duration;

use reqwest::{Client, Method, RequestBuilder, StatusCode, Url, redirect};

pub use self::login::Login;
pub(crate) use self::login::Pass;
use crate::limits::{ANSWER_BYTES_MAX, ASK_WAIT};
use crate::tls;

/// Asks a desk for whoever shows a login.
pub(crate) struct Asking {
    client: Client,
    /// Without a slash at its end.
    desk: String,
    pass: Pass,
}

/// What the desk said.
pub(crate) struct Answered {
    pub(crate) status: u16,
    pub(crate) body: Vec<u8>,
}

/// Why the desk did not do what it was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// No answer came.
    #[error("could not {0}: the desk did not answer")]
    Unanswered(&'static str, #[source] Box<dyn Error + Send + Sync>),
    /// It said no.
    #[error("could not {0}: the desk answered with {1}")]
    Refused(&'static str, u16),
    /// What it said cannot be read.
    #[error("could not {0}: the desk's answer cannot be read")]
    Unreadable(&'static str),
}

/// Why nobody could start with these settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadSettings {
    /// The desk's URL cannot be called.
    #[error("not the URL of a desk; write it like https://desk.example, without query or user")]
    Desk,
    /// The agent's own URL cannot be called.
    #[error("not the agent's own URL; write it like https://agent.example, without query or user")]
    Callback,
    /// No agent has this id.
    #[error("not the id of an agent; use the one the desk gave out, without anything before it")]
    Agent,
    /// The login lacks a part.
    #[error("the login lacks its token, its name or its secret; use what the desk gave out")]
    Login,
    /// What should be trusted is not a certificate.
    #[error("no certificate to trust is in there; give the authority's certificate as PEM")]
    Certificates,
}

impl Answered {
    /// The body, if it is that of a yes.
    pub(crate) fn yes(self, what: &'static str) -> Result<Vec<u8>, CallError> {
        match self.status {
            200..=299 => Ok(self.body),
            status => Err(CallError::Refused(what, status)),
        }
    }
}

impl Asking {
    pub(crate) const fn new(client: Client, desk: String, pass: Pass) -> Self {
        Self { client, desk, pass }
    }

    /// Asks, within the usual time.
    pub(crate) async fn ask(
        &self,
        what: &'static str,
        method: Method,
        path: &str,
        body: Option<Vec<u8>>,
    ) -> Result<Answered, CallError> {
        self.ask_within(ASK_WAIT, what, (method, path), body).await
    }

    /// Asks; and once more with another token if the one that was shown is not good any more.
    pub(crate) async fn ask_within(
        &self,
        wait: Duration,
        what: &'static str,
        (method, path): (Method, &str),
        body: Option<Vec<u8>>,
    ) -> Result<Answered, CallError> {
        let url = format!("{}{path}", self.desk);
        let ask = || {
            let asked = self.client.request(method.clone(), &url).timeout(wait);
            match &body {
                Some(body) => asked.header("content-type", "application/json").body(body.clone()),
                None => asked,
            }
        };
        let token = self.pass.token(&self.client).await?;
        let said = answered(what, ask().bearer_auth(token.expose())).await?;
        if said.status != StatusCode::UNAUTHORIZED.as_u16() || !self.pass.forget(&token).await {
            return Ok(said);
        }
        let token = self.pass.token(&self.client).await?;
        answered(what, ask().bearer_auth(token.expose())).await
    }
}

/// The body of an answer that is a yes.
pub(crate) async fn answer(
    what: &'static str,
    asked: RequestBuilder,
) -> Result<Vec<u8>, CallError> {
    answered(what, asked).await?.yes(what)
}

async fn answered(what: &'static str, asked: RequestBuilder) -> Result<Answered, CallError> {
    let lost = |error: reqwest::Error| CallError::Unanswered(what, error.without_url().into());
    let mut response = asked.send().await.map_err(lost)?;
    let (status, mut body) = (response.status().as_u16(), Vec::new());
    while let Some(chunk) = response.chunk().await.map_err(lost)? {
        if body.len() + chunk.len() > ANSWER_BYTES_MAX {
            return Err(CallError::Unreadable(what));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(Answered { status, body })
}

/// A client for a desk, which trusts these certificates besides.
pub(crate) fn client(trusted: &[u8]) -> Result<Client, BadSettings> {
    let roots = tls::roots(trusted).ok_or(BadSettings::Certificates)?;
    let client = Client::builder()
        .tls_backend_preconfigured(tls::config(roots))
        .timeout(ASK_WAIT)
        // Where the desk is, its settings say; a token goes nowhere else.
        .redirect(redirect::Policy::none())
        .no_proxy()
        .build();
    client.map_err(|_| BadSettings::Certificates)
}

/// The URL of a desk or an agent, without a slash at its end.
pub(crate) fn address(url: &str) -> Option<String> {
    let url = url.trim().trim_end_matches('/');
    let read = Url::parse(url).ok()?;
    let plain = read.query().is_none() && read.fragment().is_none() && read.username().is_empty();
    (matches!(read.scheme(), "http" | "https") && plain).then(|| url.to_owned())
}
