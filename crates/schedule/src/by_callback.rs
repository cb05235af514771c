//! By callback: an agent is told at a URL of its own.

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

/// What stands behind an agent's own URL where it is told of fires.
const PATH: &str = "/api/cron/fire";

/// Why a callback is refused that would not be called as it reads.
const PLAIN: &str = "name the callback without a query, as https://agent.example.org";

/// Tells an agent of a fire at its callback, once.
#[async_trait]
pub trait ByCallback: Send + Sync {
    /// Calls, and says what came of it. It is now, by the store's clock.
    async fn call(&self, fire: &Claimed, callback: &str, now: Timestamp) -> Outcome;

    /// The callback as it would be called, or why it would not be. Nobody is asked.
    fn may_call(&self, callback: &str) -> Result<String, String>;
}

/// Makes the token that proves a fire to its agent.
#[async_trait]
pub trait Minting: Send + Sync {
    /// A token of this fire, good from now on.
    async fn token(
        &self,
        fire: &Claimed,
        now: Timestamp,
    ) -> Result<SecretString, Box<dyn Error + Send + Sync>>;
}

/// Tells agents through the one client for URLs that tenants name, each time with a token of its own.
#[derive(Clone)]
pub struct Callbacks {
    outside: Outside,
    minting: Arc<dyn Minting>,
}

impl Callbacks {
    /// Calls with tokens that are made so.
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

    /// A token; or, if there is none in time, what is done instead of the call.
    async fn token(&self, fire: &Claimed, now: Timestamp) -> Result<SecretString, Outcome> {
        let minted = timeout(FIRE_TOKEN_WAIT, self.minting.token(fire, now)).await;
        minted.unwrap_or_else(|late| Err(late.into())).map_err(|error| {
            no_token(fire.agent, &*error);
            Outcome::PutOff(OUTSIDE_NO_ROOM_WAIT)
        })
    }
}

fn no_token(agent: AgentId, error: &(dyn Error + 'static)) {
    tracing::warn!(agent.id = %agent, error, "agent {agent} is told later: there is no token for a fire");
}

/// What is said to the agent. Its instant is as the agent wrote it.
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

/// What an answer means. Whatever is not clear is asked again: an agent that took the fire already
/// knows it by its id.
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
