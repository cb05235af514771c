//! Login: by what right an agent speaks to its desk.

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

/// By what right an agent speaks to its desk. Its `Debug` shows no secret.
#[derive(Clone, Debug)]
pub struct Login(By);

#[derive(Clone, Debug)]
enum By {
    Token(Secret),
    Client(Request),
    Gateway { name: String, secret: Secret },
}

impl Login {
    /// By an access token that somebody else sees to.
    pub fn token(token: impl Into<String>) -> Self {
        Self(By::Token(Secret::new(token)))
    }

    /// By a client's id and secret, as `nightdesk gateway token` gives them out. Access tokens are
    /// asked for when they are needed, and replaced before they run out.
    pub fn client(id: impl Into<String>, secret: impl Into<String>) -> Self {
        let (client_id, client_secret) = (id.into(), Secret::new(secret));
        Self(By::Client(Request::ClientCredentials { client_id, client_secret, scope: None }))
    }

    /// By the name and the secret of a gateway of the agent's: the same that it dials in with.
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

/// Has an access token at hand.
pub(crate) struct Pass {
    login: Login,
    url: String,
    clock: Arc<dyn Clock>,
    /// Whoever holds it asks for the next one; all others wait for that.
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

    /// An access token that is good for a while.
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

    /// Forgets a token that was refused. `false`: there is no other to be had.
    pub(crate) async fn forget(&self, refused: &Secret) -> bool {
        let mut kept = self.kept.lock().await;
        if kept.as_ref().is_some_and(|kept| kept.token == *refused) {
            *kept = None;
        }
        matches!(self.login.0, By::Client(_))
    }
}

/// Before it runs out. One that is good for a short while is used for half of it.
fn renewed_after(expires_in_secs: u64) -> Duration {
    // Nobody's token is good for longer; so nothing can overflow.
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
