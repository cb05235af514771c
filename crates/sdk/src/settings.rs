//! Settings of an agent: the desk, the gateway and the bots.

use std::time::Duration;

use nightdesk_protocol::hello::{ClientVersion, Hello, RELAY_PLATFORM};
use nightdesk_protocol::upgrade_token::is_gateway_name;
use nightdesk_protocol::{Frame, Secret};
use nightdesk_types::limits::HELLOS_MAX;
use tokio_rustls::rustls::RootCertStore;
use tokio_tungstenite::tungstenite::http::Uri;

use crate::limits::{SLEEP_AFTER_MAX, SLEEP_AFTER_MIN};
use crate::{tls, url};

/// The desk that an agent connects to, its gateway, and its bots.
///
/// Its `Debug` does not show the secret.
#[derive(Clone, Debug)]
#[must_use = "settings do nothing until an agent connects with them"]
pub struct Settings {
    url: String,
    gateway: String,
    secret: Secret,
    bots: Vec<BotIdentity>,
    trusted: Vec<u8>,
    sleep_after: Option<Duration>,
}

impl Settings {
    /// Names the desk by its URL, and the gateway by its name and secret.
    pub fn new(
        url: impl Into<String>,
        gateway: impl Into<String>,
        secret: impl Into<String>,
    ) -> Self {
        let (url, gateway, secret) = (url.into(), gateway.into(), Secret::new(secret));
        Self { url, gateway, secret, bots: Vec::new(), trusted: Vec::new(), sleep_after: None }
    }

    /// Speaks for this bot, by the platform's name and the platform's id for the bot. May be called once for each bot;
    /// the desk describes their platforms in the same order.
    ///
    /// An agent that names no bot speaks for all its bots.
    pub fn speaking_for(mut self, platform: impl Into<String>, bot: impl Into<String>) -> Self {
        self.bots.push(BotIdentity { platform: platform.into(), bot: bot.into() });
        self
    }

    /// Also trusts these certificates, for a desk behind a private authority: one or more, as PEM. May be called
    /// several times. The roots of browsers are always trusted.
    pub fn trusting(mut self, certificates: impl AsRef<[u8]>) -> Self {
        self.trusted.extend_from_slice(certificates.as_ref());
        self.trusted.push(b'\n');
        self
    }

    /// Falls asleep after this time of quiet, five seconds to a day: the agent announces it to the desk, hangs up and
    /// is over with [`AgentEnd::Asleep`](crate::AgentEnd::Asleep). An agent is quiet while no turn runs, no entry is unacked, no
    /// send waits for its answer, no [`Busy`](crate::Busy) is held, and none of that changes.
    ///
    /// Without this an agent never sleeps by itself. A sleeping agent must be woken: see
    /// [`wake::Listener`](crate::wake::Listener).
    pub const fn sleep_after(mut self, quiet_for: Duration) -> Self {
        self.sleep_after = Some(quiet_for);
        self
    }

    /// Checks the settings.
    pub(crate) fn check(self) -> Result<CheckedSettings, BadSettings> {
        let url = url::relay(&self.url).ok_or(BadSettings::Url)?;
        if !is_gateway_name(&self.gateway) {
            return Err(BadSettings::Gateway);
        }
        if self.secret.expose().is_empty() {
            return Err(BadSettings::Secret);
        }
        let slept = SLEEP_AFTER_MIN..=SLEEP_AFTER_MAX;
        if self.sleep_after.is_some_and(|quiet_for| !slept.contains(&quiet_for)) {
            return Err(BadSettings::SleepAfter);
        }
        let bots = if self.bots.is_empty() { all_bots() } else { self.bots };
        if bots.len() > HELLOS_MAX {
            return Err(BadSettings::TooManyBots);
        }
        let hellos = bots.iter().map(hello).collect::<Result<_, _>>()?;
        let roots = tls::roots(&self.trusted).ok_or(BadSettings::Certificates)?;
        let Self { gateway, secret, sleep_after, .. } = self;
        Ok(CheckedSettings { url, gateway, secret, bots, hellos, roots, sleep_after })
    }
}

/// Settings that an agent can connect with.
#[derive(Debug)]
pub(crate) struct CheckedSettings {
    pub(crate) url: Uri,
    pub(crate) gateway: String,
    pub(crate) secret: Secret,
    pub(crate) bots: Vec<BotIdentity>,
    pub(crate) hellos: Vec<Frame>,
    pub(crate) roots: RootCertStore,
    pub(crate) sleep_after: Option<Duration>,
}

/// A bot that an agent speaks for.
#[derive(Clone, Debug)]
pub(crate) struct BotIdentity {
    /// The name of the platform.
    pub(crate) platform: String,
    /// The platform's id for the bot, or an empty text.
    pub(crate) bot: String,
}

fn all_bots() -> Vec<BotIdentity> {
    vec![BotIdentity { platform: RELAY_PLATFORM.to_owned(), bot: String::new() }]
}

fn hello(identity: &BotIdentity) -> Result<Frame, BadSettings> {
    let client = ClientVersion {
        name: env!("CARGO_PKG_NAME").to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
    };
    let hello = Hello {
        platform: identity.platform.clone(),
        bot_handle: identity.bot.clone(),
        commands: None,
        // Declares that this client loses nothing while it starts, so the desk need not hold entries back.
        client: Some(client),
    };
    Frame::hello(&hello).map_err(|_| BadSettings::TooManyBots)
}

/// The reason that settings are invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadSettings {
    /// The URL cannot be dialled.
    #[error("not the URL of a desk; write it like https://desk.example, without query or user")]
    Url,
    /// No gateway can have this name.
    #[error("not the name of a gateway; use the one that the desk printed, [A-Za-z0-9_.-]{{1,64}}")]
    Gateway,
    /// The secret is empty.
    #[error("the gateway's secret is empty; use the one that the desk printed")]
    Secret,
    /// The trusted text is not a certificate.
    #[error("the text contains no certificate; give the authority's certificate as PEM")]
    Certificates,
    /// The time of quiet is too short or too long.
    #[error(
        "an agent sleeps after {} s to {} s of quiet",
        SLEEP_AFTER_MIN.as_secs(),
        SLEEP_AFTER_MAX.as_secs()
    )]
    SleepAfter,
    /// The line has too many bots.
    #[error(
        "a line speaks for at most {HELLOS_MAX} bots, each with a name that fits; use several gateways"
    )]
    TooManyBots,
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "canary-5f1c";

    fn settings() -> Settings {
        Settings::new("http://desk", "gw-1", SECRET)
    }

    fn hellos(settings: Settings) -> Vec<String> {
        let hellos = settings.check().unwrap().hellos;
        hellos.into_iter().map(Frame::into_string).collect()
    }

    #[test]
    fn every_hello_says_what_the_client_is() {
        let client = format!(
            r#""client":{{"name":"nightdesk-sdk","version":"{}"}}}}"#,
            env!("CARGO_PKG_VERSION")
        );
        let want = |platform: &str, bot: &str| {
            format!(
                "{{\"type\":\"hello\",\"platform\":\"{platform}\",\"botId\":\"{bot}\",{client}\n"
            )
        };

        assert_eq!(hellos(settings()), [want("relay", "")]);
        let both = settings().speaking_for("discord", "b1").speaking_for("slack", "");
        assert_eq!(hellos(both), [want("discord", "b1"), want("slack", "")], "in order");
    }

    #[test]
    fn says_what_is_wrong_before_it_dials() {
        let sleepy = |secs| settings().sleep_after(Duration::from_secs(secs));
        let (soon, late) = (SLEEP_AFTER_MIN.as_secs(), SLEEP_AFTER_MAX.as_secs());
        let bots = |count| (0..count).fold(settings(), |all, _| all.speaking_for("discord", ""));
        let cases = [
            ("good", settings(), None),
            ("no scheme", Settings::new("desk", "gw-1", SECRET), Some(BadSettings::Url)),
            ("a colon", Settings::new("http://desk", "a:b", SECRET), Some(BadSettings::Gateway)),
            ("no secret", Settings::new("http://desk", "gw-1", ""), Some(BadSettings::Secret)),
            ("not PEM", settings().trusting("no certificate"), Some(BadSettings::Certificates)),
            ("sleeps at once", sleepy(soon - 1), Some(BadSettings::SleepAfter)),
            ("sleeps soon", sleepy(soon), None),
            ("sleeps late", sleepy(late), None),
            ("sleeps never", sleepy(late + 1), Some(BadSettings::SleepAfter)),
            ("at the limit", bots(HELLOS_MAX), None),
            ("past the limit", bots(HELLOS_MAX + 1), Some(BadSettings::TooManyBots)),
        ];
        for (name, settings, want) in cases {
            assert_eq!(settings.check().err(), want, "{name}");
        }
    }

    #[test]
    fn the_secret_is_not_shown() {
        assert!(!format!("{:?}", settings()).contains(SECRET));
        assert!(!format!("{:?}", settings().check()).contains(SECRET));
    }
}
