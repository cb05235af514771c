//! Delivers fires to the callback URL of an agent.

use std::error::Error;
use std::sync::Arc;

use async_trait::async_trait;
use nightdesk_outside::{CallError, CallResponse, Method, Outside, OutsideCall, TenantUrl};
use nightdesk_types::limits::{FIRE_TOKEN_WAIT, OUTSIDE_NO_ROOM_WAIT};
use nightdesk_types::{AgentId, Timestamp};
use secrecy::SecretString;
use serde::Serialize;
use tokio::time::timeout;

use crate::fire::FireClaim;
use crate::outcome::FireOutcome;

/// Path behind an agent's own URL that receives fires.
const PATH: &str = "/api/cron/fire";

/// Error for a callback that the desk cannot call as written.
const PLAIN: &str = "the callback must have no query, for example https://agent.example.org";

/// Delivers a fire to an agent's callback with a single call.
#[async_trait]
pub trait FireCaller: Send + Sync {
    /// Calls the callback and returns the outcome. `now` is the store's time.
    async fn call(&self, fire: &FireClaim, callback: &str, now: Timestamp) -> FireOutcome;

    /// Returns the callback in the form in which it is called, or the reason for a refusal. Makes no call.
    fn may_call(&self, callback: &str) -> Result<String, String>;
}

/// Creates the token that proves a fire to its agent.
#[async_trait]
pub trait FireTokenMinter: Send + Sync {
    /// Returns a token for this fire that is valid from `now` on.
    async fn mint_token(
        &self,
        fire: &FireClaim,
        now: Timestamp,
    ) -> Result<SecretString, Box<dyn Error + Send + Sync>>;
}

/// Calls agents through the HTTP client for URLs that tenants set, with a new token for each call.
#[derive(Clone)]
pub struct HttpFireCaller {
    outside: Outside,
    minting: Arc<dyn FireTokenMinter>,
}

impl HttpFireCaller {
    /// Creates the caller from its HTTP client and its source of tokens.
    pub fn new(outside: Outside, minting: Arc<dyn FireTokenMinter>) -> Self {
        Self { outside, minting }
    }

    fn callback_url(&self, callback: &str) -> Result<TenantUrl, String> {
        if callback.contains(['?', '#']) {
            return Err(PLAIN.to_owned());
        }
        let url = format!("{}{PATH}", callback.trim_end_matches('/'));
        TenantUrl::parse(&url, self.outside.rules()).map_err(|refused| refused.to_string())
    }

    /// Returns a token. If there is none in time, returns the outcome that replaces the call.
    async fn mint_in_time(
        &self,
        fire: &FireClaim,
        now: Timestamp,
    ) -> Result<SecretString, FireOutcome> {
        let minted = timeout(FIRE_TOKEN_WAIT, self.minting.mint_token(fire, now)).await;
        minted.unwrap_or_else(|late| Err(late.into())).map_err(|error| {
            log_no_token(fire.agent, &*error);
            FireOutcome::PutOff(OUTSIDE_NO_ROOM_WAIT)
        })
    }
}

fn log_no_token(agent: AgentId, error: &(dyn Error + 'static)) {
    tracing::warn!(agent.id = %agent, error, "could not create a token for a fire of agent {agent}; the call is retried");
}

/// Body of the request to the agent. The instant is in the agent's own notation.
#[derive(Serialize)]
struct FireBody<'a> {
    job_id: &'a str,
    fire_at: &'a str,
}

#[async_trait]
impl FireCaller for HttpFireCaller {
    async fn call(&self, fire: &FireClaim, callback: &str, now: Timestamp) -> FireOutcome {
        let url = match self.callback_url(callback) {
            Ok(url) => url,
            Err(words) => return FireOutcome::Again(words, None),
        };
        let token = match self.mint_in_time(fire, now).await {
            Ok(token) => token,
            Err(instead) => return instead,
        };
        let said = FireBody { job_id: fire.job.as_str(), fire_at: fire.fire_at.as_str() };
        let body = serde_json::to_vec(&said).unwrap_or_default().into();
        let (bearer, body) = (Some(&token), Some(body));
        let call = OutsideCall { url: &url, method: Method::Post, bearer, signature: None, body };
        match self.outside.call(fire.scope.tenant(), call).await {
            Ok(reply) => outcome_of_response(&reply),
            Err(CallError::Busy { retry_after }) => FireOutcome::PutOff(retry_after),
            Err(error) => FireOutcome::Again(error.to_string(), None),
        }
    }

    fn may_call(&self, callback: &str) -> Result<String, String> {
        let url = self.callback_url(callback)?;
        Ok(url.as_str().strip_suffix(PATH).ok_or(PLAIN)?.to_owned())
    }
}

/// Maps a response to an outcome. An unclear response leads to a retry: an agent that took the fire already
/// recognises its id.
fn outcome_of_response(reply: &CallResponse) -> FireOutcome {
    let CallResponse { status, retry_after, took, .. } = reply;
    match status {
        200..=299 => FireOutcome::Taken(format!("{status} in {} ms", took.as_millis())),
        400 => FireOutcome::Refused(
            "the agent says that the fire is not for it (status 400)".to_owned(),
        ),
        401 => FireOutcome::Unauthorised,
        _ => FireOutcome::Again(format!("answered with status {status}"), *retry_after),
    }
}

#[cfg(test)]
mod tests;
