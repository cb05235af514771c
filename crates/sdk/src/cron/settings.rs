//! Settings of a provider: the desk, the agent, and the agent's callback URL.

use std::sync::Arc;

use reqwest::Client;

use super::verifier::FireVerifier;
use crate::desk_client::{BadDeskSettings, Login, address, client};

/// The desk that stores an agent's jobs, and the way of its fires.
///
/// Its `Debug` does not show the login's secret.
#[derive(Clone, Debug)]
#[must_use = "settings do nothing until a provider starts with them"]
pub struct CronSettings {
    desk: String,
    agent: String,
    login: Login,
    issuer: Option<String>,
    callback: Option<String>,
    trusted: Vec<u8>,
    verifier: Option<CustomVerifier>,
    falls_back: bool,
}

/// A verifier that the agent sets.
#[derive(Clone)]
struct CustomVerifier(Arc<dyn FireVerifier>);

nightdesk_types::opaque_debug!(CustomVerifier);

impl CronSettings {
    /// Names the desk by its URL and the agent by its id at that desk.
    pub fn new(desk: impl Into<String>, agent: impl Into<String>, login: Login) -> Self {
        let (desk, agent) = (desk.into(), agent.into());
        Self {
            desk,
            agent,
            login,
            issuer: None,
            callback: None,
            trusted: Vec::new(),
            verifier: None,
            falls_back: true,
        }
    }

    /// Receives fires at this URL: the public address of the [door](super::Provider::router). Without it, fires arrive
    /// through the agent's inbox.
    pub fn called_at(mut self, url: impl Into<String>) -> Self {
        self.callback = Some(url.into());
        self
    }

    /// Accepts fires of the desk with this issuer name, if it differs from the URL that the desk is reached by. It is
    /// compared exactly.
    pub fn issued_by(mut self, issuer: impl Into<String>) -> Self {
        self.issuer = Some(issuer.into());
        self
    }

    /// Verifies fires by this verifier, in place of the desk's signature.
    pub fn verified_by(mut self, verifier: impl FireVerifier + 'static) -> Self {
        self.verifier = Some(CustomVerifier(Arc::new(verifier)));
        self
    }

    /// Leaves every fire to the desk. By default the agent fires a job itself if the desk has not fired it a minute after
    /// its time, and cannot be reached.
    pub const fn without_fallback(mut self) -> Self {
        self.falls_back = false;
        self
    }

    /// Also trusts these certificates, for a desk behind a private authority: one or more, as PEM.
    pub fn trusting(mut self, certificates: impl AsRef<[u8]>) -> Self {
        self.trusted.extend_from_slice(certificates.as_ref());
        self.trusted.push(b'\n');
        self
    }

    /// Checks the settings.
    pub(super) fn check(self) -> Result<CheckedCronSettings, BadDeskSettings> {
        let desk = address(&self.desk).ok_or(BadDeskSettings::Desk)?;
        let callback = self.callback.map(|url| address(&url).ok_or(BadDeskSettings::Callback));
        if self.agent.is_empty() || self.agent.contains(':') {
            return Err(BadDeskSettings::Agent);
        }
        if !self.login.is_whole() {
            return Err(BadDeskSettings::Login);
        }
        let client = client(&self.trusted)?;
        Ok(CheckedCronSettings {
            issuer: self.issuer.unwrap_or_else(|| desk.clone()),
            audience: format!("agent:{}", self.agent),
            callback: callback.transpose()?,
            login: self.login,
            client,
            desk,
            verifier: self.verifier.map(|CustomVerifier(verifier)| verifier),
            falls_back: self.falls_back,
        })
    }
}

/// Settings that a provider can start with.
pub(super) struct CheckedCronSettings {
    /// The desk's URL without a trailing slash.
    pub(super) desk: String,
    pub(super) issuer: String,
    pub(super) audience: String,
    pub(super) callback: Option<String>,
    pub(super) login: Login,
    pub(super) client: Client,
    /// `None`: the desk's signature is verified.
    pub(super) verifier: Option<Arc<dyn FireVerifier>>,
    pub(super) falls_back: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "canary-5f1c";

    fn settings(desk: &str) -> CronSettings {
        CronSettings::new(desk, "a1", Login::client("c1", SECRET))
    }

    #[test]
    fn says_what_is_wrong_before_it_starts() {
        let good = || settings("https://desk.example");
        let with = |agent: &str, login| CronSettings::new("https://desk.example", agent, login);
        let cases = [
            ("good", good(), None),
            ("called", good().called_at("https://agent.example/a"), None),
            ("no scheme", settings("desk.example"), Some(BadDeskSettings::Desk)),
            ("a query", settings("https://desk.example?a=1"), Some(BadDeskSettings::Desk)),
            ("a user", settings("https://u:p@desk.example"), Some(BadDeskSettings::Desk)),
            ("called nowhere", good().called_at("agent"), Some(BadDeskSettings::Callback)),
            ("no agent", with("", Login::token("t")), Some(BadDeskSettings::Agent)),
            ("an audience", with("agent:a1", Login::token("t")), Some(BadDeskSettings::Agent)),
            ("no token", with("a1", Login::token("")), Some(BadDeskSettings::Login)),
            ("no secret", with("a1", Login::client("c1", "")), Some(BadDeskSettings::Login)),
            (
                "no gateway's name",
                with("a1", Login::gateway("a:b", "s")),
                Some(BadDeskSettings::Login),
            ),
            ("not PEM", good().trusting("no certificate"), Some(BadDeskSettings::Certificates)),
        ];
        for (name, settings, want) in cases {
            assert_eq!(settings.check().err(), want, "{name}");
        }
    }

    #[test]
    fn the_desk_names_itself_by_its_url_unless_told_otherwise() {
        let issuer = |settings: CronSettings| settings.check().ok().unwrap().issuer;

        assert_eq!(issuer(settings("http://desk:1/")), "http://desk:1");
        let other = settings("http://desk:1").issued_by("https://desk.example/");
        assert_eq!(issuer(other), "https://desk.example/", "to the letter");
    }

    #[test]
    fn the_secret_is_not_shown() {
        assert!(!format!("{:?}", settings("https://desk.example")).contains(SECRET));
    }
}
