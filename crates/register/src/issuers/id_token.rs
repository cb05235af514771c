//! Verifies the ID tokens of a login provider (`OpenID` Connect Core, section 3.1.3.7).

use std::collections::BTreeMap;
use std::sync::Arc;

use nightdesk_types::Timestamp;
use nightdesk_types::limits::ISSUED_TOKEN_BYTES_MAX;
use serde_json::Value;
use tokio_util::task::TaskTracker;

use super::claims::{IssuerClaims, WrongClaim};
use super::jwks::{FetchKeys, Jwks, KeySource};
use super::trusted::read_key_id;
use crate::error::RegisterError;

/// The types of ID tokens. An access token is none.
const ID_TOKEN_TYPES: [&str; 1] = ["jwt"];

/// Verifies the ID tokens that one provider issues to one client.
#[derive(Debug)]
pub struct IdTokenVerifier {
    issuer: String,
    client_id: String,
    keys: Jwks,
}

/// The claims of an accepted ID token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdTokenClaims {
    /// The provider's id of the user.
    pub subject: String,
    values: BTreeMap<String, Value>,
}

impl IdTokenClaims {
    /// Returns the text of a claim.
    pub fn text(&self, claim: &str) -> Option<&str> {
        self.values.get(claim)?.as_str()
    }

    /// Returns the texts of a claim: one, or a list.
    pub fn texts(&self, claim: &str) -> Vec<&str> {
        match self.values.get(claim) {
            Some(Value::String(one)) => vec![one],
            Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        }
    }

    /// Returns the email address, if the provider verified it.
    pub fn verified_email(&self) -> Option<&str> {
        let is_verified = self.values.get("email_verified") == Some(&Value::Bool(true));
        self.text("email").filter(|_| is_verified)
    }
}

impl IdTokenVerifier {
    /// Creates the verifier of an issuer's tokens for a client. `fetch` gets the keys, in tasks of `tasks`.
    pub fn new(
        issuer: String,
        client_id: String,
        keys: KeySource,
        fetch: Arc<dyn FetchKeys>,
        tasks: TaskTracker,
    ) -> Self {
        Self { issuer, client_id, keys: Jwks::new(keys, fetch, tasks) }
    }

    /// Returns the claims of a token that the issuer signed for this client and this login. `None`: the token is not
    /// accepted.
    pub async fn verify(
        &self,
        token: &str,
        nonce: &str,
        now: Timestamp,
    ) -> Result<Option<IdTokenClaims>, RegisterError> {
        if token.len() > ISSUED_TOKEN_BYTES_MAX {
            return Ok(None);
        }
        let Some(kid) = read_key_id(token, &ID_TOKEN_TYPES) else { return Ok(None) };
        let key = self.keys.find_key(&kid).await.map_err(|_| RegisterError::NoIssuerKeys)?;
        let claims = key.and_then(|key| key.verify::<IssuerClaims>(token));
        Ok(claims.and_then(|claims| self.check(claims, nonce, now).ok()))
    }

    fn check(
        &self,
        claims: IssuerClaims,
        nonce: &str,
        now: Timestamp,
    ) -> Result<IdTokenClaims, WrongClaim> {
        let audiences = claims.audiences()?;
        let is_for_client = audiences.contains(&self.client_id);
        let party = claims.optional_text("azp")?;
        // With several audiences, the token must name the party that it was issued to.
        let is_issued_to_client = match party {
            Some(party) => party == self.client_id,
            None => audiences.len() == 1,
        };
        // A token with a purpose is for another use.
        let is_right = !claims.has("purpose")
            && claims.text("iss")? == self.issuer
            && is_for_client
            && is_issued_to_client
            && claims.text("nonce")? == nonce
            && claims.is_good(now.as_second())?;
        if !is_right {
            return Err(WrongClaim);
        }
        let subject = claims.text("sub")?.to_owned();
        Ok(IdTokenClaims { subject, values: claims.into_values() })
    }
}

#[cfg(test)]
mod tests;
