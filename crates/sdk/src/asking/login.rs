//! The credentials of an agent at its desk.

use std::sync::Arc;

use nightdesk_protocol::Secret;
use nightdesk_protocol::http::token::{Answer, Request};
use nightdesk_protocol::upgrade_token::{self, UPGRADE_TTL_SECS};
use nightdesk_types::Clock;
use reqwest::{Client, header};
use tokio::sync::Mutex;
use tokio::time::{Duration, Instant};

use super::{CallError, answer};
use crate::limits::TOKEN_RENEWED_BEFORE;

/// The credentials of an agent at its desk. Its `Debug` shows no secret.
#[derive(Clone, Debug)]
pub struct Login(By);

#[derive(Clone, Debug)]
enum By {
    Token(Secret),
    Client(Request),
    Gateway { name: String, secret: Secret },
}

impl Login {
    /// Uses an access token that the caller manages.
    pub fn token(token: impl Into<String>) -> Self {
        Self(By::Token(Secret::new(token)))
    }

    /// Uses a client's id and secret, as `nightdesk gateway token` prints them. Access tokens are requested when they
    /// are needed, and replaced before they expire.
    pub fn client(id: impl Into<String>, secret: impl Into<String>) -> Self {
        let (client_id, client_secret) = (id.into(), Secret::new(secret));
        Self(By::Client(Request::ClientCredentials { client_id, client_secret, scope: None }))
    }

    /// Uses the name and the secret of one of the agent's gateways: the same that it dials in with.
    pub fn gateway(name: impl Into<String>, secret: impl Into<String>) -> Self {
        Self(By::Gateway { name: name.into(), secret: Secret::new(secret) })
    }

    pub(crate) fn is_whole(&self) -> bool {
        match &self.0 {
            By::Token(token) => !token.expose().is_empty(),
            By::Client(Request::ClientCredentials { client_id, client_secret, .. }) => {
                !client_id.is_empty() && !client_secret.expose().is_empty()
            }
            By::Client(Request::RefreshToken { .. }) => false,
            By::Gateway { name, secret } => {
                upgrade_token::is_gateway_name(name) && !secret.expose().is_empty()
            }
        }
    }
}

/// Provides a valid access token.
pub(crate) struct Pass {
    login: Login,
    url: String,
    clock: Arc<dyn Clock>,
    /// The holder of the lock requests the next token; all others wait for it.
    kept: Mutex<Option<Kept>>,
}

struct Kept {
    token: Secret,
    renewed_at: Instant,
}

impl Pass {
    pub(crate) fn new(login: Login, desk: &str, clock: Arc<dyn Clock>) -> Self {
        Self { login, url: format!("{desk}/oauth/token"), clock, kept: Mutex::default() }
    }

    /// Returns an access token that is valid for a while.
    pub(crate) async fn token(&self, client: &Client) -> Result<Secret, CallError> {
        let request = match &self.login.0 {
            By::Token(token) => return Ok(token.clone()),
            By::Client(request) => request,
            By::Gateway { name, secret } => {
                let secret = secret.expose().as_bytes();
                return Ok(upgrade_token::make(name, secret, UPGRADE_TTL_SECS, self.clock.now()));
            }
        };
        let mut kept = self.kept.lock().await;
        if let Some(kept) = kept.as_ref().filter(|kept| Instant::now() < kept.renewed_at) {
            return Ok(kept.token.clone());
        }
        let Answer { access_token, expires_in_secs, .. } = self.ask(client, request).await?;
        let renewed_at = Instant::now() + renewed_after(expires_in_secs);
        *kept = Some(Kept { token: access_token.clone(), renewed_at });
        Ok(access_token)
    }

    async fn ask(&self, client: &Client, request: &Request) -> Result<Answer, CallError> {
        let form = (header::CONTENT_TYPE, "application/x-www-form-urlencoded");
        let asked = client.post(&self.url).header(form.0, form.1).body(request.form());
        let body = answer("log in", asked).await?;
        serde_json::from_slice(&body).map_err(|_| CallError::Unreadable("log in"))
    }

    /// Drops a refused token. Returns false if no other token can be requested.
    pub(crate) async fn forget(&self, refused: &Secret) -> bool {
        let mut kept = self.kept.lock().await;
        if kept.as_ref().is_some_and(|kept| kept.token == *refused) {
            *kept = None;
        }
        matches!(self.login.0, By::Client(_))
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
