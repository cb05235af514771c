//! Checks the claims of another issuer's token.

use std::collections::BTreeMap;
use std::fmt;

use nightdesk_types::limits::{ACCESS_TOKEN_LEEWAY, ISSUED_NAME_BYTES_MAX, ISSUED_TOKEN_LIFE_MAX};
use nightdesk_types::{AgentId, Timestamp};
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde_json::Value;

use crate::issuer::parse_agent;

/// All claims of a token; a duplicate claim is refused.
#[derive(Clone)]
pub(super) struct IssuerClaims(BTreeMap<String, Value>);

/// The expected values.
pub(super) struct ExpectedClaims<'a> {
    pub(super) issuer: &'a str,
    pub(super) tenant_claim: &'a str,
}

/// The values of an accepted token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct AcceptedClaims {
    audiences: Vec<String>,
    pub(super) tenant: String,
    pub(super) client: Option<String>,
    pub(super) session: Option<String>,
}

impl AcceptedClaims {
    pub(super) fn is_for(&self, audience: &str) -> bool {
        self.audiences.iter().any(|name| name == audience)
    }

    /// Returns the agent that the token is for, if that is its only audience.
    pub(super) fn only_agent(&self) -> Option<AgentId> {
        match self.audiences.as_slice() {
            [only] => parse_agent(only),
            _ => None,
        }
    }
}

/// A claim is missing, of another type, or has a wrong value.
#[derive(Debug)]
pub(super) struct WrongClaim;

impl IssuerClaims {
    /// Returns the values of the claims if all of them are right.
    pub(super) fn check(
        &self,
        wanted: &ExpectedClaims<'_>,
        now: Timestamp,
    ) -> Option<AcceptedClaims> {
        self.check_all(wanted, now.as_second()).ok()
    }

    /// Requires each claim and its type: a claim of another type is never treated as missing.
    fn check_all(
        &self,
        wanted: &ExpectedClaims<'_>,
        now: i64,
    ) -> Result<AcceptedClaims, WrongClaim> {
        // A token with a purpose is for another use.
        if self.has("purpose") {
            return Err(WrongClaim);
        }
        self.text("sub")?;
        if self.text("iss")? != wanted.issuer || !self.is_good(now)? {
            return Err(WrongClaim);
        }
        Ok(AcceptedClaims {
            audiences: self.audiences()?,
            tenant: self.text(wanted.tenant_claim)?.to_owned(),
            client: self.either_text("client_id", "azp")?.map(str::to_owned),
            session: self.optional_text("sid")?.map(str::to_owned),
        })
    }

    /// Returns true if the token's times are right.
    pub(super) fn is_good(&self, now: i64) -> Result<bool, WrongClaim> {
        let secs = |span: std::time::Duration| i64::try_from(span.as_secs()).unwrap_or(0);
        let (leeway, life) = (secs(ACCESS_TOKEN_LEEWAY), secs(ISSUED_TOKEN_LIFE_MAX));
        let (made_at, ends_at) = (self.timestamp("iat")?, self.timestamp("exp")?);
        let begins_at = if self.has("nbf") { self.timestamp("nbf")? } else { made_at };
        let lasts = ends_at.checked_sub(made_at);
        Ok(begins_at.saturating_sub(leeway) <= now
            && made_at.saturating_sub(leeway) <= now
            && now < ends_at.saturating_add(leeway)
            && lasts.is_some_and(|lasts| (0..=life).contains(&lasts)))
    }

    pub(super) fn audiences(&self) -> Result<Vec<String>, WrongClaim> {
        let said = self.0.get("aud").ok_or(WrongClaim)?;
        if let Some(one) = said.as_str() {
            return Ok(vec![one.to_owned()]);
        }
        let several = said.as_array().filter(|several| !several.is_empty()).ok_or(WrongClaim)?;
        several.iter().map(|one| one.as_str().map(str::to_owned).ok_or(WrongClaim)).collect()
    }

    /// Returns an optional text that has two names. If both are present, they must be equal.
    fn either_text(&self, name: &str, other: &str) -> Result<Option<&str>, WrongClaim> {
        match (self.optional_text(name)?, self.optional_text(other)?) {
            (Some(one), Some(other)) if one != other => Err(WrongClaim),
            (one, other) => Ok(one.or(other)),
        }
    }

    /// Returns an optional text.
    pub(super) fn optional_text(&self, name: &str) -> Result<Option<&str>, WrongClaim> {
        if self.has(name) { self.text(name).map(Some) } else { Ok(None) }
    }

    /// Returns a required text.
    pub(super) fn text(&self, name: &str) -> Result<&str, WrongClaim> {
        let text = self.0.get(name).and_then(Value::as_str).ok_or(WrongClaim)?;
        if (1..=ISSUED_NAME_BYTES_MAX).contains(&text.len()) { Ok(text) } else { Err(WrongClaim) }
    }

    /// Returns true if the token has the claim, of any type.
    pub(super) fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// Returns all claims.
    pub(super) fn into_values(self) -> BTreeMap<String, Value> {
        self.0
    }

    fn timestamp(&self, name: &str) -> Result<i64, WrongClaim> {
        self.0.get(name).and_then(Value::as_i64).ok_or(WrongClaim)
    }
}

impl<'de> Deserialize<'de> for IssuerClaims {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct UniqueClaimsVisitor;
        impl<'de> Visitor<'de> for UniqueClaimsVisitor {
            type Value = BTreeMap<String, Value>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object that says each thing once")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut claims = BTreeMap::new();
                while let Some((name, value)) = map.next_entry::<String, Value>()? {
                    // Two readers could accept two different values.
                    if claims.insert(name, value).is_some() {
                        return Err(A::Error::custom("a claim twice"));
                    }
                }
                Ok(claims)
            }
        }
        from.deserialize_map(UniqueClaimsVisitor).map(Self)
    }
}

#[cfg(test)]
pub(super) mod tests;
