//! Verifies the token that the desk sends with a fire.

use jsonwebtoken::{Algorithm, Validation, decode, decode_header};
use nightdesk_types::Timestamp;
use serde::de::{Deserialize, Deserializer};
use uuid::Uuid;

use super::keys::FireVerifyingKey;
use super::limits::{CLOCKS_APART, FIRE_TOKEN_BYTES_MAX, FIRE_TOKEN_LIFE_MAX};

/// The required purpose. A token for any other purpose is refused.
const PURPOSE: &str = "cron_fire";

/// The claims of a token, each once and of its type; further claims are ignored.
#[derive(Clone, Debug, serde::Deserialize)]
struct FireClaims {
    iss: String,
    aud: Audience,
    purpose: String,
    exp: i64,
    jti: String,
    #[serde(default, deserialize_with = "read_present")]
    nbf: Option<i64>,
    #[serde(default, deserialize_with = "read_present")]
    iat: Option<i64>,
    #[serde(default, deserialize_with = "read_present", rename = "sub")]
    _sub: Option<String>,
}

/// Requires the type if the claim is present: null is not the same as absent.
fn read_present<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    from: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(from).map(Some)
}

#[derive(Clone, Debug, serde::Deserialize)]
#[serde(untagged)]
enum Audience {
    One(String),
    Several(Vec<String>),
}

impl Audience {
    fn contains(&self, audience: &str) -> bool {
        match self {
            Self::One(one) => one == audience,
            Self::Several(several) => several.iter().any(|one| one == audience),
        }
    }
}

/// The expected claims of a fire.
#[derive(Clone, Debug)]
pub(super) struct ExpectedFireClaims {
    pub(super) issuer: String,
    pub(super) audience: String,
}

/// The reason that a token is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum BadToken {
    #[error("it is too long")]
    TooLong,
    #[error("it is not a fire token of the desk")]
    OtherKind,
    #[error("it names no key of the desk")]
    UnknownKey,
    #[error("the key it names did not sign it, or its claims are not those of a fire")]
    NotSigned,
    #[error("it is of another desk, for another agent or for another purpose")]
    NotForUs,
    #[error("it has expired, or is not valid yet")]
    NotNow,
}

/// Returns the key that a token names.
pub(super) fn read_key_id(token: &str) -> Result<String, BadToken> {
    if token.len() > FIRE_TOKEN_BYTES_MAX {
        return Err(BadToken::TooLong);
    }
    let header = decode_header(token).map_err(|_| BadToken::OtherKind)?;
    let known = matches!(header.alg, Algorithm::ES256 | Algorithm::RS256);
    header.kid.filter(|_| known && header.crit.is_none()).ok_or(BadToken::OtherKind)
}

/// Verifies a token with the key that it names, and returns the id of its fire. The algorithm is the key's own.
pub(super) fn verify(
    token: &str,
    key: &FireVerifyingKey,
    wanted: &ExpectedFireClaims,
    now: Timestamp,
) -> Result<Uuid, BadToken> {
    let claims = decode(token, &key.key, &signature_only(key.algorithm));
    let claims: FireClaims = claims.map_err(|_| BadToken::NotSigned)?.claims;
    let for_us = claims.iss == wanted.issuer && claims.aud.contains(&wanted.audience);
    if !for_us || claims.purpose != PURPOSE {
        return Err(BadToken::NotForUs);
    }
    if !is_good(&claims, now.as_second()) {
        return Err(BadToken::NotNow);
    }
    // Only the canonical spelling is accepted, so that no fire has two ids.
    let id = Uuid::try_parse(&claims.jti).ok().filter(|id| id.to_string() == claims.jti);
    id.ok_or(BadToken::NotSigned)
}

/// Turns off the library's claim checks: the library would read the wall clock, and claims are checked here.
fn signature_only(algorithm: Algorithm) -> Validation {
    let mut validation = Validation::new(algorithm);
    validation.required_spec_claims.clear();
    validation.validate_exp = false;
    validation.validate_nbf = false;
    validation.validate_aud = false;
    validation
}

fn is_good(claims: &FireClaims, now: i64) -> bool {
    let secs = |span: std::time::Duration| i64::try_from(span.as_secs()).unwrap_or(0);
    let (leeway, life) = (secs(CLOCKS_APART), secs(FIRE_TOKEN_LIFE_MAX));
    let has_begun = |at: Option<i64>| at.is_none_or(|at| at.saturating_sub(leeway) <= now);
    now < claims.exp.saturating_add(leeway)
        && claims.exp <= now.saturating_add(leeway + life)
        && has_begun(claims.nbf)
        && has_begun(claims.iat)
}

#[cfg(test)]
mod tests;
