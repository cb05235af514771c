//! Checks the claims of another issuer's token.

use std::collections::BTreeMap;
use std::fmt;

use nightdesk_types::limits::{ACCESS_TOKEN_LEEWAY, ISSUED_NAME_BYTES_MAX, ISSUED_TOKEN_LIFE_MAX};
use nightdesk_types::{AgentId, Timestamp};
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde_json::Value;

use crate::issuer::named_agent;

/// All claims of a token; a duplicate claim is refused.
#[derive(Clone)]
pub(super) struct Claims(BTreeMap<String, Value>);

/// The expected values.
pub(super) struct Wanted<'a> {
    pub(super) issuer: &'a str,
    pub(super) tenant_claim: &'a str,
}

/// The values of an accepted token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Judged {
    audiences: Vec<String>,
    pub(super) tenant: String,
    pub(super) client: Option<String>,
    pub(super) session: Option<String>,
}

impl Judged {
    pub(super) fn is_for(&self, audience: &str) -> bool {
        self.audiences.iter().any(|name| name == audience)
    }

    /// Returns the agent that the token is for, if that is its only audience.
    pub(super) fn only_agent(&self) -> Option<AgentId> {
        match self.audiences.as_slice() {
            [only] => named_agent(only),
            _ => None,
        }
    }
}

/// A claim is missing, of another type, or has a wrong value.
struct Wrong;

impl Claims {
    /// Returns the values of the claims if all of them are right.
    pub(super) fn judge(&self, wanted: &Wanted<'_>, now: Timestamp) -> Option<Judged> {
        self.judged(wanted, now.as_second()).ok()
    }

    /// Requires each claim and its type: a claim of another type is never treated as missing.
    fn judged(&self, wanted: &Wanted<'_>, now: i64) -> Result<Judged, Wrong> {
        // A token with a purpose is for another use.
        if self.0.contains_key("purpose") {
            return Err(Wrong);
        }
        self.text("sub")?;
        if self.text("iss")? != wanted.issuer || !self.is_good(now)? {
            return Err(Wrong);
        }
        Ok(Judged {
            audiences: self.audiences()?,
            tenant: self.text(wanted.tenant_claim)?.to_owned(),
            client: self.one_of("client_id", "azp")?.map(str::to_owned),
            session: self.optional("sid")?.map(str::to_owned),
        })
    }

    /// Returns true if the token's times are right.
    fn is_good(&self, now: i64) -> Result<bool, Wrong> {
        let secs = |span: std::time::Duration| i64::try_from(span.as_secs()).unwrap_or(0);
        let (leeway, life) = (secs(ACCESS_TOKEN_LEEWAY), secs(ISSUED_TOKEN_LIFE_MAX));
        let (made_at, ends_at) = (self.second("iat")?, self.second("exp")?);
        let begins_at = if self.0.contains_key("nbf") { self.second("nbf")? } else { made_at };
        let lasts = ends_at.checked_sub(made_at);
        Ok(begins_at.saturating_sub(leeway) <= now
            && made_at.saturating_sub(leeway) <= now
            && now < ends_at.saturating_add(leeway)
            && lasts.is_some_and(|lasts| (0..=life).contains(&lasts)))
    }

    fn audiences(&self) -> Result<Vec<String>, Wrong> {
        let said = self.0.get("aud").ok_or(Wrong)?;
        if let Some(one) = said.as_str() {
            return Ok(vec![one.to_owned()]);
        }
        let several = said.as_array().filter(|several| !several.is_empty()).ok_or(Wrong)?;
        several.iter().map(|one| one.as_str().map(str::to_owned).ok_or(Wrong)).collect()
    }

    /// Returns an optional text that has two names. If both are present, they must be equal.
    fn one_of(&self, name: &str, other: &str) -> Result<Option<&str>, Wrong> {
        match (self.optional(name)?, self.optional(other)?) {
            (Some(one), Some(other)) if one != other => Err(Wrong),
            (one, other) => Ok(one.or(other)),
        }
    }

    /// Returns an optional text.
    fn optional(&self, name: &str) -> Result<Option<&str>, Wrong> {
        if self.0.contains_key(name) { self.text(name).map(Some) } else { Ok(None) }
    }

    fn text(&self, name: &str) -> Result<&str, Wrong> {
        let text = self.0.get(name).and_then(Value::as_str).ok_or(Wrong)?;
        if (1..=ISSUED_NAME_BYTES_MAX).contains(&text.len()) { Ok(text) } else { Err(Wrong) }
    }

    fn second(&self, name: &str) -> Result<i64, Wrong> {
        self.0.get(name).and_then(Value::as_i64).ok_or(Wrong)
    }
}

impl<'de> Deserialize<'de> for Claims {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Once;
        impl<'de> Visitor<'de> for Once {
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
        from.deserialize_map(Once).map(Self)
    }
}

#[cfg(test)]
pub(super) mod tests;
