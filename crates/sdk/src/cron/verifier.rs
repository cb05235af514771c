//! Verifies that a fire comes from its scheduler.

use std::sync::Arc;

use async_trait::async_trait;
use nightdesk_types::Clock;
use uuid::Uuid;

use super::keys::{Keys, Unavailable};
use super::token::{BadToken, ExpectedFireClaims, read_key_id, verify};

/// Verifies the bearer token of a fire, before anything else of the request is read. The default one accepts tokens that
/// the desk signed just now for this agent; [`CronSettings::verified_by`](super::CronSettings::verified_by) sets another,
/// for a scheduler that fires with keys of its own. The route stays the same.
#[async_trait]
pub trait FireVerifier: Send + Sync {
    /// Verifies a token.
    async fn verify(&self, token: &str) -> Result<FireProof, FireRefusal>;
}

/// Proof that a scheduler fires a job of this agent now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FireProof {
    fire_id: String,
    job: Option<String>,
}

impl FireProof {
    /// Creates the proof of a fire. Its id is the same for every attempt of one fire, and no other fire has it: a fire
    /// whose id ran before does not run.
    pub fn new(fire_id: Uuid) -> Self {
        Self { fire_id: fire_id.to_string(), job: None }
    }

    /// Restricts the proof to one job, for tokens that are made for one.
    #[must_use]
    pub fn for_job(self, job: impl Into<String>) -> Self {
        Self { job: Some(job.into()), ..self }
    }

    /// Returns the fire's id.
    pub fn fire_id(&self) -> &str {
        &self.fire_id
    }

    /// Returns true if the proof covers this job.
    pub(super) fn covers(&self, job: &str) -> bool {
        self.job.as_deref().is_none_or(|only| only == job)
    }
}

/// The reason that a fire is not proven.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FireRefusal {
    /// The token is not valid. The fire gets a 401, and this reason is logged.
    #[error("{0}")]
    Invalid(String),
    /// The token cannot be verified now. The fire gets a 503 and comes again.
    #[error("the keys of its scheduler cannot be read")]
    Unavailable,
}

impl From<BadToken> for FireRefusal {
    fn from(bad: BadToken) -> Self {
        Self::Invalid(bad.to_string())
    }
}

/// Verifies tokens of the desk.
pub(super) struct DeskVerifier {
    pub(super) keys: Keys,
    pub(super) wanted: ExpectedFireClaims,
    pub(super) clock: Arc<dyn Clock>,
}

#[async_trait]
impl FireVerifier for DeskVerifier {
    async fn verify(&self, token: &str) -> Result<FireProof, FireRefusal> {
        let kid = read_key_id(token)?;
        let key = self.keys.find_key(&kid).await.map_err(|Unavailable| FireRefusal::Unavailable)?;
        let key = key.ok_or(BadToken::UnknownKey)?;
        let fire_id = verify(token, &key, &self.wanted, self.clock.now())?;
        Ok(FireProof::new(fire_id))
    }
}
