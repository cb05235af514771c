//! Configuration of issuers: the desk itself, and the others that the operator trusts.

use std::net::SocketAddr;
use std::path::PathBuf;

use anyhow::{bail, ensure};
use nightdesk_register::issuer::KeyAlgorithm;
use nightdesk_register::issuers::{AgentBy, KeySource, TrustedIssuer};
use nightdesk_types::limits::ISSUERS_MAX;
use serde::Deserialize;

/// The signing of the desk's own tokens. Since 0.1.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct IssuingSection {
    /// `ES256`, or `RS256` if a verifier supports nothing else. A change is published for a day before it is used.
    pub(crate) algorithm: Algorithm,
    /// Addresses at which every program that can reach them gets a token of one agent, for clients that support a token
    /// URL but no client credentials. There are none by default.
    pub(crate) ambient: Vec<AmbientSection>,
}

/// An ambient token endpoint. Since 0.1.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AmbientSection {
    /// The address that it listens on: a separate loopback address. Reaching it is the only proof.
    pub(crate) address: SocketAddr,
    /// The agent's tenant, by name or id.
    pub(crate) tenant: String,
    /// The agent, by name or id.
    pub(crate) agent: String,
}

impl IssuingSection {
    /// Checks the ambient endpoints.
    pub(super) fn validate(&self) -> anyhow::Result<()> {
        for ambient in &self.ambient {
            ensure!(
                ambient.address.ip().is_loopback(),
                "issuer.ambient: {} is not a loopback address; every program that reaches it gets a token of agent {}",
                ambient.address,
                ambient.agent
            );
        }
        Ok(())
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub(crate) enum Algorithm {
    #[default]
    Es256,
    Rs256,
}

impl From<Algorithm> for KeyAlgorithm {
    fn from(algorithm: Algorithm) -> Self {
        match algorithm {
            Algorithm::Es256 => Self::Es256,
            Algorithm::Rs256 => Self::Rs256,
        }
    }
}

/// A trusted issuer. Since 0.1.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct IssuerSection {
    /// The issuer's name in its tokens (`iss`), compared exactly.
    pub(crate) url: String,
    /// The URL of its keys; public https, unless `outside` allows more.
    pub(crate) jwks_url: Option<String>,
    /// The file with its keys, in place of the URL.
    pub(crate) jwks_file: Option<PathBuf>,
    /// The `aud` of its tokens for this desk. A token for one agent only has `agent:{id}`.
    pub(crate) audience: String,
    /// The claim that names the tenant, by its name or id.
    pub(crate) tenant_claim: String,
    /// The way to find a machine's agent: by its `client`, called `agent:{id}`; by its `session`, which `nightdesk
    /// issuer bind` recorded; or by `either`.
    #[serde(default)]
    pub(crate) agent_by: AgentBySetting,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum AgentBySetting {
    Client,
    Session,
    #[default]
    Either,
}

impl From<AgentBySetting> for AgentBy {
    fn from(by: AgentBySetting) -> Self {
        match by {
            AgentBySetting::Client => Self::Client,
            AgentBySetting::Session => Self::Session,
            AgentBySetting::Either => Self::Either,
        }
    }
}

impl IssuerSection {
    /// Returns the issuer for the register.
    pub(crate) fn to_trusted(&self) -> anyhow::Result<TrustedIssuer> {
        let Self { url, jwks_url, jwks_file, audience, tenant_claim, agent_by } = self;
        let keys = match (jwks_url, jwks_file) {
            (Some(url), None) => KeySource::Url(url.clone()),
            (None, Some(file)) => KeySource::File(file.clone()),
            _ => bail!("issuers: {url} needs either jwks_url or jwks_file"),
        };
        ensure!(
            !url.is_empty() && !audience.is_empty() && !tenant_claim.is_empty(),
            "issuers: url, audience and tenant_claim must not be empty"
        );
        Ok(TrustedIssuer {
            url: url.clone(),
            keys,
            audience: audience.clone(),
            tenant_claim: tenant_claim.clone(),
            agent_by: (*agent_by).into(),
        })
    }
}

/// Returns all trusted issuers. No two have the same name, and none has the desk's.
pub(crate) fn trusted_issuers(
    issuers: &[IssuerSection],
    own: &str,
) -> anyhow::Result<Vec<TrustedIssuer>> {
    ensure!(issuers.len() <= ISSUERS_MAX, "at most {ISSUERS_MAX} issuers can be trusted");
    for (n, issuer) in issuers.iter().enumerate() {
        let url = &issuer.url;
        let earlier = issuers.iter().take(n).any(|other| other.url == *url);
        ensure!(!earlier, "issuers: {url} is listed twice; remove one");
        ensure!(*url != own, "issuers: {url} is this desk's own listen.public_url; leave it out");
    }
    issuers.iter().map(IssuerSection::to_trusted).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn issuer(url: &str) -> IssuerSection {
        IssuerSection {
            url: url.to_owned(),
            jwks_url: Some(format!("{url}/jwks")),
            jwks_file: None,
            audience: "nightdesk".to_owned(),
            tenant_claim: "tid".to_owned(),
            agent_by: AgentBySetting::Either,
        }
    }

    #[test]
    fn what_contradicts_itself_stops_the_start() {
        let file = || Some(PathBuf::from("keys.json"));
        let cases = [
            ("one", vec![issuer("https://a")], ""),
            ("two", vec![issuer("https://a"), issuer("https://b")], ""),
            ("twice", vec![issuer("https://a"), issuer("https://a")], "twice"),
            ("ourselves", vec![issuer("https://desk")], "own"),
            (
                "no keys",
                vec![IssuerSection { jwks_url: None, ..issuer("https://a") }],
                "jwks_url or",
            ),
            (
                "both",
                vec![IssuerSection { jwks_file: file(), ..issuer("https://a") }],
                "jwks_url or",
            ),
            (
                "nobody's",
                vec![IssuerSection { tenant_claim: String::new(), ..issuer("https://a") }],
                "tenant_claim",
            ),
        ];
        for (name, issuers, want) in cases {
            let said =
                trusted_issuers(&issuers, "https://desk").err().map(|error| error.to_string());
            assert!(said.as_deref().unwrap_or_default().contains(want), "{name}: {said:?}");
            assert_eq!(said.is_none(), want.is_empty(), "{name}");
        }
    }
}
