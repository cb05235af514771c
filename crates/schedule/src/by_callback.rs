//! Delivers fires to the callback URL of an agent.

use std::error::Error;
use std::sync::Arc;

use async_trait::async_trait;
use nightdesk_outside::{Call, CallError, Method, Outside, Reply, TenantUrl};
use nightdesk_types::limits::{FIRE_TOKEN_WAIT, OUTSIDE_NO_ROOM_WAIT};
use nightdesk_types::{AgentId, Timestamp};
use secrecy::SecretString;
use serde::Serialize;
use tokio::time::timeout;

use crate::fire::Claimed;
use crate::outcome::Outcome;

/// Path behind an agent's own URL that receives fires.
const PATH: &str = "/api/cron/fire";

/// Error for a callback that the desk cannot call as written.
const PLAIN: &str = "the callback must have no query, for example https://agent.example.org";

/// Delivers a fire to an agent's callback with a single call.
#[async_trait]
pub trait ByCallback: Send + Sync {
    /// Calls the callback and returns the outcome. `now` is the store's time.
    async fn call(&self, fire: &Claimed, callback: &str, now: Timestamp) -> Outcome;

    /// Returns the callback in the form in which it is called, or the reason for a refusal. Makes no call.
    fn may_call(&self, callback: &str) -> Result<String, String>;
}

/// Creates the token that proves a fire to its agent.
#[async_trait]
pub trait Minting: Send + Sync {
    /// Returns a token for this fire that is valid from `now` on.
    async fn token(
        &self,
        fire: &Claimed,
        now: Timestamp,
    ) -> Result<SecretString, Box<dyn Error + Send + Sync>>;
}

/// Calls agents through the HTTP client for URLs that tenants set, with a new token for each call.
#[derive(Clone)]
pub struct Callbacks {
    outside: Outside,
    minting: Arc<dyn Minting>,
}

impl Callbacks {
    /// Creates the caller from its HTTP client and its source of tokens.
    pub fn new(outside: Outside, minting: Arc<dyn Minting>) -> Self {
        Self { outside, minting }
    }

    fn url(&self, callback: &str) -> Result<TenantUrl, String> {
        if callback.contains(['?', '#']) {
            return Err(PLAIN.to_owned());
        }
        let url = format!("{}{PATH}", callback.trim_end_matches('/'));
        TenantUrl::parse(&url, self.outside.rules()).map_err(|refused| refused.to_string())
    }

    /// Returns a token. If there is none in time, returns the outcome that replaces the call.
    async fn token(&self, fire: &Claimed, now: Timestamp) -> Result<SecretString, Outcome> {
        let minted = timeout(FIRE_TOKEN_WAIT, self.minting.token(fire, now)).await;
        minted.unwrap_or_else(|late| Err(late.into())).map_err(|error| {
            no_token(fire.agent, &*error);
            Outcome::PutOff(OUTSIDE_NO_ROOM_WAIT)
        })
    }
}

fn no_token(agent: AgentId, error: &(dyn Error + 'static)) {
    tracing::warn!(agent.id = %agent, error, "could not create a token for a fire of agent {agent}; the call is retried");
}

/// Body of the request to the agent. The instant is in the agent's own notation.
#[derive(Serialize)]
struct Said<'a> {
    job_id: &'a str,
    fire_at: &'a str,
}

#[async_trait]
impl ByCallback for Callbacks {
    async fn call(&self, fire: &Claimed, callback: &str, now: Timestamp) -> Outcome {
        let url = match self.url(callback) {
            Ok(url) => url,
            Err(words) => return Outcome::Again(words, None),
        };
        let token = match self.token(fire, now).await {
            Ok(token) => token,
            Err(instead) => return instead,
        };
        let said = Said { job_id: fire.job.as_str(), fire_at: fire.fire_at.as_str() };
        let body = serde_json::to_vec(&said).unwrap_or_default().into();
        let (bearer, body) = (Some(&token), Some(body));
        let call = Call { url: &url, method: Method::Post, bearer, signature: None, body };
        match self.outside.call(fire.scope.tenant(), call).await {
            Ok(reply) => answered(&reply),
            Err(CallError::Busy { retry_after }) => Outcome::PutOff(retry_after),
            Err(error) => Outcome::Again(error.to_string(), None),
        }
    }

    fn may_call(&self, callback: &str) -> Result<String, String> {
        let url = self.url(callback)?;
        Ok(url.as_str().strip_suffix(PATH).ok_or(PLAIN)?.to_owned())
    }
}

/// Maps a response to an outcome. An unclear response leads to a retry: an agent that took the fire already
/// recognises its id.
fn answered(reply: &Reply) -> Outcome {
    let Reply { status, retry_after, took, .. } = reply;
    match status {
        200..=299 => Outcome::Taken(format!("{status} in {} ms", took.as_millis())),
        400 => {
            Outcome::Refused("the agent says that the fire is not for it (status 400)".to_owned())
        }
        401 => Outcome::Unauthorised,
        _ => Outcome::Again(format!("answered with status {status}"), *retry_after),
    }
}

#[cfg(test)]
mod tests;
