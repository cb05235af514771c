//! Settings of a provider: the desk, the agent, and the agent's callback URL.

use reqwest::Client;

use crate::asking::{BadSettings, Login, address, client};

/// The desk that stores an agent's jobs, and the way of its fires.
///
/// Its `Debug` does not show the login's secret.
#[derive(Clone, Debug)]
#[must_use = "settings do nothing until a provider starts with them"]
pub struct Settings {
    desk: String,
    agent: String,
    login: Login,
    issuer: Option<String>,
    callback: Option<String>,
    trusted: Vec<u8>,
}

impl Settings {
    /// Names the desk by its URL and the agent by its id at that desk.
    pub fn new(desk: impl Into<String>, agent: impl Into<String>, login: Login) -> Self {
        let (desk, agent) = (desk.into(), agent.into());
        Self { desk, agent, login, issuer: None, callback: None, trusted: Vec::new() }
    }

    /// Receives fires at this URL: the public address of the [door](super::Provider::door). Without it, fires arrive
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

    /// Also trusts these certificates, for a desk behind a private authority: one or more, as PEM.
    pub fn trusting(mut self, certificates: impl AsRef<[u8]>) -> Self {
        self.trusted.extend_from_slice(certificates.as_ref());
        self.trusted.push(b'\n');
        self
    }

    /// Checks the settings.
    pub(super) fn checked(self) -> Result<Checked, BadSettings> {
        let desk = address(&self.desk).ok_or(BadSettings::Desk)?;
        let callback = self.callback.map(|url| address(&url).ok_or(BadSettings::Callback));
        if self.agent.is_empty() || self.agent.contains(':') {
            return Err(BadSettings::Agent);
        }
        if !self.login.is_whole() {
            return Err(BadSettings::Login);
        }
        let client = client(&self.trusted)?;
        Ok(Checked {
            issuer: self.issuer.unwrap_or_else(|| desk.clone()),
            audience: format!("agent:{}", self.agent),
            callback: callback.transpose()?,
            login: self.login,
            client,
            desk,
        })
    }
}

/// Settings that a provider can start with.
pub(super) struct Checked {
    /// The desk's URL without a trailing slash.
    pub(super) desk: String,
    pub(super) issuer: String,
    pub(super) audience: String,
    pub(super) callback: Option<String>,
    pub(super) login: Login,
    pub(super) client: Client,
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "canary-5f1c";

    fn settings(desk: &str) -> Settings {
        Settings::new(desk, "a1", Login::client("c1", SECRET))
    }

    #[test]
    fn says_what_is_wrong_before_it_starts() {
        let good = || settings("https://desk.example");
        let with = |agent: &str, login| Settings::new("https://desk.example", agent, login);
        let cases = [
            ("good", good(), None),
            ("called", good().called_at("https://agent.example/a"), None),
            ("no scheme", settings("desk.example"), Some(BadSettings::Desk)),
            ("a query", settings("https://desk.example?a=1"), Some(BadSettings::Desk)),
            ("a user", settings("https://u:p@desk.example"), Some(BadSettings::Desk)),
            ("called nowhere", good().called_at("agent"), Some(BadSettings::Callback)),
            ("no agent", with("", Login::token("t")), Some(BadSettings::Agent)),
            ("an audience", with("agent:a1", Login::token("t")), Some(BadSettings::Agent)),
            ("no token", with("a1", Login::token("")), Some(BadSettings::Login)),
            ("no secret", with("a1", Login::client("c1", "")), Some(BadSettings::Login)),
            ("no gateway's name", with("a1", Login::gateway("a:b", "s")), Some(BadSettings::Login)),
            ("not PEM", good().trusting("no certificate"), Some(BadSettings::Certificates)),
        ];
        for (name, settings, want) in cases {
            assert_eq!(settings.checked().err(), want, "{name}");
        }
    }

    #[test]
    fn the_desk_names_itself_by_its_url_unless_told_otherwise() {
        let issuer = |settings: Settings| settings.checked().ok().unwrap().issuer;

        assert_eq!(issuer(settings("http://desk:1/")), "http://desk:1");
        let other = settings("http://desk:1").issued_by("https://desk.example/");
        assert_eq!(issuer(other), "https://desk.example/", "to the letter");
    }

    #[test]
    fn the_secret_is_not_shown() {
        assert!(!format!("{:?}", settings("https://desk.example")).contains(SECRET));
    }
}
