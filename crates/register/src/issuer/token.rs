//! Creates and verifies access tokens without I/O.

use jsonwebtoken::{Algorithm, Header, Validation, decode, decode_header, encode};
use nightdesk_types::limits::{ACCESS_TOKEN_BYTES_MAX, ACCESS_TOKEN_LEEWAY, ACCESS_TOKEN_LIFE};
use nightdesk_types::{AgentId, Timestamp};
use nightdesk_vault::Key;
use serde::{Deserialize, Serialize};

use super::key::{KeyAlgorithm, SigningKey};

/// The audience of the tokens: every route of this desk. The issuer claim names the desk.
pub(super) const AUDIENCE: &str = "nightdesk";

/// Prefix of an agent's id in a token.
const AGENT: &str = "agent:";

/// Returns the audience of a token for one agent only.
pub(super) fn audience_of(agent: AgentId) -> String {
    format!("{AGENT}{agent}")
}

/// Returns the agent of that name.
pub(crate) fn parse_agent(name: &str) -> Option<AgentId> {
    let agent = name.strip_prefix(AGENT)?.parse().ok()?;
    // Only the canonical spelling is accepted, so that each agent has one name.
    (audience_of(agent) == name).then_some(agent)
}

/// The token type of RFC 9068, so that a token for another use is not accepted.
const TYPE: &str = "at+jwt";

/// All claims of a token. An unknown claim is refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AccessTokenClaims {
    pub(super) iss: String,
    pub(super) aud: String,
    pub(super) sub: String,
    /// The session of the token, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) sid: Option<String>,
    pub(super) tenant: String,
    pub(super) iat: i64,
    pub(super) nbf: i64,
    pub(super) exp: i64,
    pub(super) jti: String,
}

/// The subject of a token.
pub(super) struct Subject<'a> {
    pub(super) sub: &'a str,
    pub(super) sid: Option<&'a str>,
}

/// The reason that a token is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadToken {
    /// The token is longer than any of ours.
    #[error("token is too long")]
    TooLong,
    /// The token is not of our format.
    #[error("token is not one of this desk")]
    OtherKind,
    /// No key of ours has that name.
    #[error("token names no key of this desk")]
    UnknownKey,
    /// The key did not sign it, or its claims are not ours.
    #[error("token was not signed by the key it names")]
    NotSigned,
    /// It has another issuer or another audience.
    #[error("token has another issuer or audience")]
    NotForUs,
    /// It is not valid yet, or it expired.
    #[error("token has expired, or is not valid yet")]
    NotNow,
}

/// Signs with the newest key in use, of the configured algorithm if there is one.
pub(super) fn sign(
    claims: &AccessTokenClaims,
    keys: &[SigningKey],
    wanted: KeyAlgorithm,
    now: Timestamp,
) -> Option<Key> {
    let mut in_use = keys.iter().rev().filter(|key| key.used_from <= now);
    let newest = in_use.clone().next();
    let key = in_use.find(|key| key.algorithm == wanted).or(newest)?;
    let mut header = Header::new(key.algorithm.token_algorithm());
    header.typ = Some(TYPE.to_owned());
    header.kid = Some(key.kid.clone());
    encode(&header, claims, &key.signing).ok().map(Key::new)
}

/// Verifies a token. The key is the one that the token names; the algorithm is the key's own.
pub(super) fn verify(
    bearer: &str,
    keys: &[SigningKey],
    issuer: &str,
    now: Timestamp,
) -> Result<AccessTokenClaims, BadToken> {
    if bearer.len() > ACCESS_TOKEN_BYTES_MAX {
        return Err(BadToken::TooLong);
    }
    let header = decode_header(bearer).map_err(|_| BadToken::OtherKind)?;
    let known = matches!(header.alg, Algorithm::ES256 | Algorithm::RS256);
    if header.typ.as_deref() != Some(TYPE) || !known || header.crit.is_some() {
        return Err(BadToken::OtherKind);
    }
    let named = |key: &&SigningKey| header.kid.as_ref() == Some(&key.kid);
    let key = keys.iter().find(named).ok_or(BadToken::UnknownKey)?;
    let algorithm = key.algorithm.token_algorithm();
    if header.alg != algorithm {
        return Err(BadToken::OtherKind);
    }
    let claims = decode(bearer, &key.verifying, &signature_only(algorithm));
    let claims: AccessTokenClaims = claims.map_err(|_| BadToken::NotSigned)?.claims;
    let for_us = claims.aud == AUDIENCE || parse_agent(&claims.aud).is_some();
    if claims.iss != issuer || !for_us {
        return Err(BadToken::NotForUs);
    }
    if is_good(&claims, now.as_second()) { Ok(claims) } else { Err(BadToken::NotNow) }
}

/// Turns off the library's claim checks: the library would read the wall clock, and claims are checked elsewhere.
pub(crate) fn signature_only(algorithm: Algorithm) -> Validation {
    let mut validation = Validation::new(algorithm);
    validation.required_spec_claims.clear();
    validation.validate_exp = false;
    validation.validate_nbf = false;
    validation.validate_aud = false;
    validation
}

fn is_good(claims: &AccessTokenClaims, now: i64) -> bool {
    let secs = |span: std::time::Duration| i64::try_from(span.as_secs()).unwrap_or(0);
    let (leeway, life) = (secs(ACCESS_TOKEN_LEEWAY), secs(ACCESS_TOKEN_LIFE));
    let lasts = claims.exp.checked_sub(claims.iat);
    claims.nbf.saturating_sub(leeway) <= now
        && claims.iat.saturating_sub(leeway) <= now
        && now < claims.exp.saturating_add(leeway)
        && lasts.is_some_and(|lasts| (0..=life).contains(&lasts))
}

#[cfg(test)]
mod tests;
