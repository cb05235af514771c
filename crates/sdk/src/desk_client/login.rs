//! The credentials of an agent at its desk.

use std::sync::Arc;

use nightdesk_protocol::Secret;
use nightdesk_protocol::http::token::{TokenRequest, TokenResponse};
use nightdesk_protocol::upgrade_token::{self, UPGRADE_TTL_SECS};
use nightdesk_types::Clock;
use reqwest::{Client, header};
use tokio::sync::Mutex;
use tokio::time::{Duration, Instant};

use super::{DeskCallError, fetch_body};
use crate::limits::TOKEN_RENEWED_BEFORE;

/// The credentials of an agent at its desk. Its `Debug` shows no secret.
#[derive(Clone, Debug)]
pub struct Login(LoginMethod);

#[derive(Clone, Debug)]
enum LoginMethod {
    Token(Secret),
    Client(TokenRequest),
    Gateway { name: String, secret: Secret },
}

impl Login {
    /// Uses an access token that the caller manages.
    pub fn token(token: impl Into<String>) -> Self {
        Self(LoginMethod::Token(Secret::new(token)))
    }

    /// Uses a client's id and secret, as `nightdesk gateway token` prints them. Access tokens are requested when they
    /// are needed, and replaced before they expire.
    pub fn client(id: impl Into<String>, secret: impl Into<String>) -> Self {
        let (client_id, client_secret) = (id.into(), Secret::new(secret));
        Self(LoginMethod::Client(TokenRequest::ClientCredentials {
            client_id,
            client_secret,
            scope: None,
        }))
    }

    /// Uses the name and the secret of one of the agent's gateways: the same that it dials in with.
    pub fn gateway(name: impl Into<String>, secret: impl Into<String>) -> Self {
        Self(LoginMethod::Gateway { name: name.into(), secret: Secret::new(secret) })
    }

    pub(crate) fn is_whole(&self) -> bool {
        match &self.0 {
            LoginMethod::Token(token) => !token.expose().is_empty(),
            LoginMethod::Client(TokenRequest::ClientCredentials {
                client_id,
                client_secret,
                ..
            }) => !client_id.is_empty() && !client_secret.expose().is_empty(),
            LoginMethod::Client(TokenRequest::RefreshToken { .. }) => false,
            LoginMethod::Gateway { name, secret } => {
                upgrade_token::is_gateway_name(name) && !secret.expose().is_empty()
            }
        }
    }
}

/// Provides a valid access token.
pub(crate) struct TokenSource {
    login: Login,
    url: String,
    clock: Arc<dyn Clock>,
    /// The holder of the lock requests the next token; all others wait for it.
    kept: Mutex<Option<CachedToken>>,
}

struct CachedToken {
    token: Secret,
    renewed_at: Instant,
}

impl TokenSource {
    pub(crate) fn new(login: Login, desk: &str, clock: Arc<dyn Clock>) -> Self {
        Self { login, url: format!("{desk}/oauth/token"), clock, kept: Mutex::default() }
    }

    /// Returns an access token that is valid for a while.
    pub(crate) async fn token(&self, client: &Client) -> Result<Secret, DeskCallError> {
        let request = match &self.login.0 {
            LoginMethod::Token(token) => return Ok(token.clone()),
            LoginMethod::Client(request) => request,
            LoginMethod::Gateway { name, secret } => {
                let secret = secret.expose().as_bytes();
                return Ok(upgrade_token::make(name, secret, UPGRADE_TTL_SECS, self.clock.now()));
            }
        };
        let mut kept = self.kept.lock().await;
        if let Some(kept) = kept.as_ref().filter(|kept| Instant::now() < kept.renewed_at) {
            return Ok(kept.token.clone());
        }
        let TokenResponse { access_token, expires_in_secs, .. } =
            self.request_token(client, request).await?;
        let renewed_at = Instant::now() + renewed_after(expires_in_secs);
        *kept = Some(CachedToken { token: access_token.clone(), renewed_at });
        Ok(access_token)
    }

    async fn request_token(
        &self,
        client: &Client,
        request: &TokenRequest,
    ) -> Result<TokenResponse, DeskCallError> {
        let form = (header::CONTENT_TYPE, "application/x-www-form-urlencoded");
        let asked = client.post(&self.url).header(form.0, form.1).body(request.form());
        let body = fetch_body("log in", asked).await?;
        serde_json::from_slice(&body).map_err(|_| DeskCallError::Unreadable("log in"))
    }

    /// Drops a refused token. Returns false if no other token can be requested.
    pub(crate) async fn forget(&self, refused: &Secret) -> bool {
        let mut kept = self.kept.lock().await;
        if kept.as_ref().is_some_and(|kept| kept.token.is(refused.expose())) {
            *kept = None;
        }
        matches!(self.login.0, LoginMethod::Client(_))
    }
}

/// Returns the time after which a token is replaced. A short-lived token is used for half of its life.
fn renewed_after(expires_in_secs: u64) -> Duration {
    // No token is valid for longer, and the limit prevents an overflow.
    let life = Duration::from_secs(expires_in_secs.min(366 * 24 * 3_600));
    life.saturating_sub(TOKEN_RENEWED_BEFORE).max(life / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_replaced_before_it_runs_out() {
        let cases = [(3_600, 3_480), (240, 120), (100, 50), (0, 0)];
        for (life, want) in cases {
            assert_eq!(renewed_after(life), Duration::from_secs(want), "{life}");
        }
        assert!(renewed_after(u64::MAX) < Duration::from_hours(366 * 24));
    }
}
