//! Fire tokens: they prove to an agent that the desk is the sender of a due job.
//!
//! They are for agents only: every route of the desk refuses a token that has a purpose.

use jsonwebtoken::{Header, encode};
use nightdesk_types::limits::FIRE_TOKEN_LIFE;
use nightdesk_types::{AgentId, FireId, Timestamp};
use nightdesk_vault::Key;
use serde::Serialize;

use super::Issuer;
use super::key::SigningKey;
use super::rotation::OF_FIRES;
use super::token::audience_of;
use crate::error::RegisterError;

/// The only purpose of a fire token.
const PURPOSE: &str = "cron_fire";

#[derive(Serialize)]
struct FireTokenClaims<'a> {
    iss: &'a str,
    aud: String,
    purpose: &'static str,
    iat: i64,
    nbf: i64,
    exp: i64,
    jti: String,
}

impl Issuer {
    /// Returns the token for one attempt to deliver a fire. Its id is the fire's id in every attempt.
    pub async fn fire_token(
        &self,
        agent: AgentId,
        fire: FireId,
        now: Timestamp,
    ) -> Result<Key, RegisterError> {
        let keys = self.keys.accepted_keys(now).await?;
        let key = newest(&keys, now).ok_or(RegisterError::NoSigningKey)?;
        let now = now.as_second();
        let claims = FireTokenClaims {
            iss: &self.url,
            aud: audience_of(agent),
            purpose: PURPOSE,
            iat: now,
            nbf: now,
            exp: now + i64::try_from(FIRE_TOKEN_LIFE.as_secs()).unwrap_or(0),
            jti: fire.to_string(),
        };
        let mut header = Header::new(OF_FIRES.token_algorithm());
        header.kid = Some(key.kid.clone());
        let token = encode(&header, &claims, &key.signing);
        token.map(Key::new).map_err(|_| RegisterError::NoSigningKey)
    }
}

/// Returns the newest key in use. If no key is in use yet, returns the upcoming one, which is already published.
fn newest(keys: &[SigningKey], now: Timestamp) -> Option<&SigningKey> {
    let mut its = keys.iter().filter(|key| key.algorithm == OF_FIRES);
    let in_use = its.clone().rfind(|key| key.used_from <= now);
    in_use.or_else(|| its.next())
}
