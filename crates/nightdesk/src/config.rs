//! Configuration: one TOML file, overridden by `NIGHTDESK__SECTION__KEY`. It is read once, here.

mod alerts;
mod issuers;
mod logins;
mod transport;
mod waking;
mod ways;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, bail, ensure};
use nightdesk_api::Relays;
use nightdesk_desk::RateSettings;
use nightdesk_discord::{Discord, DiscordUrls};
use nightdesk_outside::Rules;
use nightdesk_port::SessionBudget;
use nightdesk_schedule::{HmacProof, JwtProof, RelaySecrets};
use nightdesk_telegram::Telegram;
use nightdesk_types::SystemClock;
use nightdesk_vault::Vault;
use serde::Deserialize;

mod keys;
pub(crate) mod secret_file;

pub(crate) use alerts::{AlertsSection, MailSection, MailTls};
#[cfg(test)]
pub(crate) use issuers::AmbientSection;
pub(crate) use issuers::{IssuerSection, IssuingSection, trusted_issuers};
pub(crate) use keys::read_again;
pub(crate) use logins::{LoginSection, provider_settings};
pub(crate) use transport::{TlsFiles, TlsSetting};
pub(crate) use waking::WakeSection;
pub(crate) use ways::WaySection;

/// All settings of the operator.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    /// The public address.
    #[serde(default)]
    pub(crate) listen: ListenSection,
    /// The PostgreSQL database.
    pub(crate) database: DatabaseSection,
    /// The Redis between nodes. A desk of one node needs none.
    pub(crate) redis: Option<RedisSection>,
    /// The source of the vault's keys.
    pub(crate) vault: VaultSection,
    /// The identity of this node.
    #[serde(default)]
    pub(crate) node: NodeSection,
    /// The log settings.
    #[serde(default)]
    pub(crate) log: LogSection,
    /// The metrics endpoint.
    #[serde(default)]
    pub(crate) metrics: Metrics,
    /// The destination of traces.
    #[serde(default)]
    pub(crate) traces: TracesSection,
    /// The wake settings.
    #[serde(default)]
    pub(crate) wake: WakeSection,
    /// The secrets of external schedulers.
    #[serde(default)]
    pub(crate) schedule: ScheduleSection,
    /// The rate limits.
    #[serde(default)]
    pub(crate) limits: RateSettings,
    /// The audit log settings.
    #[serde(default)]
    pub(crate) audit: AuditSection,
    /// The list of erased tenants.
    #[serde(default)]
    pub(crate) erasure: ErasureSection,
    /// The rules for URLs that tenants set.
    #[serde(default)]
    pub(crate) outside: Rules,
    /// The store of uploaded files.
    #[serde(default)]
    pub(crate) media: MediaSection,
    /// The addresses of Discord.
    #[serde(default)]
    pub(crate) discord: DiscordSection,
    /// The address of Telegram.
    #[serde(default)]
    pub(crate) telegram: TelegramSection,
    /// The signing of the desk's own tokens.
    #[serde(default)]
    pub(crate) issuer: IssuingSection,
    /// The trusted issuers besides the desk itself.
    #[serde(default)]
    pub(crate) issuers: Vec<IssuerSection>,
    /// The providers at which users log in.
    #[serde(default)]
    pub(crate) logins: Vec<LoginSection>,
    /// The settings of alerts.
    #[serde(default)]
    pub(crate) alerts: AlertsSection,
    /// The mail server for alerts. Without it, the desk sends no mail.
    pub(crate) mail: Option<MailSection>,
    /// The delivery ways for letters to agents that take none through their inboxes.
    #[serde(default)]
    pub(crate) ways: Vec<WaySection>,
}

/// The public address. Since 0.1.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListenSection {
    /// The address for webhooks and gateways.
    pub(crate) address: SocketAddr,
    /// TLS of the address: files that the desk serves, or `in-front`. An address that is not loopback needs it.
    pub(crate) tls: Option<TlsSetting>,
    /// The proxies, as addresses or networks, whose `X-Forwarded-For` names the client. At most 64. Loopback is always
    /// trusted.
    #[serde(default)]
    pub(crate) trusted_proxies: Vec<String>,
    /// The URL at which people and agents reach the desk: `https://desk.example.org`. Without it, the address.
    pub(crate) public_url: Option<String>,
}

impl Default for ListenSection {
    fn default() -> Self {
        Self::on(SocketAddr::from(([127, 0, 0, 1], 8800)))
    }
}

/// The PostgreSQL database. Since 0.1.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DatabaseSection {
    /// The URL of PostgreSQL with the desk's role: `postgres://nightdesk_app@host/db`. It contains no password. Off
    /// loopback its `sslmode` is `verify-full`, unless the URL sets another.
    pub(crate) url: String,
    /// The file with the password.
    pub(crate) password_file: Option<PathBuf>,
    /// The URL with the role for `migrate`, which may create roles, at least the first time.
    pub(crate) migrate_url: Option<String>,
    /// The file with that role's password.
    pub(crate) migrate_password_file: Option<PathBuf>,
    /// The check that the server keeps what it confirmed.
    #[serde(default)]
    pub(crate) durability: DurabilityCheck,
}

/// The consequence of server settings with which a confirmed commit may be lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum DurabilityCheck {
    /// A node does not serve.
    #[default]
    Checked,
    /// A node serves, and logs the settings at each start.
    Unchecked,
}

/// The Redis between nodes. Since 0.1.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RedisSection {
    /// The URL of Redis: `redis://host:6379`, or `rediss://host:6379` over TLS. It contains no password.
    pub(crate) url: String,
    /// The file with the password.
    pub(crate) password_file: Option<PathBuf>,
    /// Allows `redis://` to another machine, for a network that only the cell's own machines use.
    #[serde(default)]
    pub(crate) plaintext: bool,
}

/// The source of the vault's keys. Since 0.1.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct VaultSection {
    /// The file with the key that wraps every tenant's data key. Create it with `nightdesk key new`, store it outside
    /// the database and its backups, and do not lose it. It may contain several keys, one per line: the first seals,
    /// all of them open.
    pub(crate) key_file: Option<PathBuf>,
    /// Files with keys that only open values that they sealed, until `nightdesk key rotate` has run.
    #[serde(default)]
    pub(crate) old_key_files: Vec<PathBuf>,
    /// In place of a file: a program that prints the keys, with its arguments. It gets no shell, and ten seconds.
    #[serde(default)]
    pub(crate) key_command: Vec<String>,
}

/// The identity of this node. Since 0.1.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NodeSection {
    /// The node's name: constant over restarts, unique per node.
    pub(crate) name: String,
    /// The URL at which the other nodes reach this one: `http://10.0.0.5:8800`. Without it, `listen.address`, unless that
    /// is every address of the machine. Requests of polling agents that arrive at another node are passed on to it.
    pub(crate) peer_url: Option<String>,
}

impl Default for NodeSection {
    fn default() -> Self {
        Self { name: "desk-1".to_owned(), peer_url: None }
    }
}

/// The log settings. Since 0.1.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct LogSection {
    /// `pretty` for a person, `json` for a program.
    pub(crate) format: LogFormat,
    /// The log filter: `info`, or finer for a part, as in `nightdesk_line=debug,info`.
    pub(crate) filter: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum LogFormat {
    Pretty,
    Json,
}

impl Default for LogSection {
    fn default() -> Self {
        Self { format: LogFormat::Pretty, filter: "info".to_owned() }
    }
}

/// The metrics endpoint. Since 0.1.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Metrics {
    /// The address of `/metrics`, for Prometheus. Do not expose it publicly. Without it, there is no endpoint.
    pub(crate) address: Option<SocketAddr>,
}

/// The destination of traces. Since 0.1.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TracesSection {
    /// An OTLP collector's address for traces, as `http://127.0.0.1:4318/v1/traces`. Without it, no trace is sent.
    pub(crate) otlp_url: Option<String>,
}

/// The secrets of external schedulers. Since 0.1.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ScheduleSection {
    /// The file with the secrets that external schedulers sign with, one per line: all of them are valid, so that one
    /// can be replaced. Without it, the desk's own scheduler is the only one.
    pub(crate) relay_secrets_file: Option<PathBuf>,
}

impl ScheduleSection {
    /// Returns the verifier of external schedulers, for a desk at that public URL.
    pub(crate) fn relays(&self, public_url: &str) -> anyhow::Result<Relays> {
        let Some(file) = &self.relay_secrets_file else { return Ok(Relays::default()) };
        let text = secret_file::read(file).context("schedule.relay_secrets_file")?;
        let secrets = RelaySecrets::parse(&text).with_context(|| {
            format!("schedule.relay_secrets_file {} cannot be used", file.display())
        })?;
        let url = format!("{public_url}/api/agent-cron/relay");
        Ok(Relays::new(vec![
            Arc::new(HmacProof(secrets.clone())),
            Arc::new(JwtProof { secrets, url }),
        ]))
    }
}

/// The store of files that agents upload to send, for an hour. Since 0.2.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct MediaSection {
    /// A folder that every node sees, or a bucket: `s3://files/desk`, `gs://…`, `az://…`. Nothing else may be in it. A
    /// bucket's keys are taken from the environment, as its own tools do.
    pub(crate) place: String,
}

impl Default for MediaSection {
    fn default() -> Self {
        Self { place: "media".to_owned() }
    }
}

/// The addresses of Discord. Since 0.2.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[expect(clippy::struct_field_names, reason = "in the file they stand alone")]
pub(crate) struct DiscordSection {
    /// The REST API.
    pub(crate) api_url: String,
    /// The gateway.
    pub(crate) gateway_url: String,
    /// The CDN of attachments.
    pub(crate) cdn_url: String,
}

impl Default for DiscordSection {
    fn default() -> Self {
        let DiscordUrls { api, gateway, cdn } = DiscordUrls::default();
        let [api_url, gateway_url, cdn_url] = [api, gateway, cdn].map(str::to_owned);
        Self { api_url, gateway_url, cdn_url }
    }
}

impl DiscordSection {
    /// Returns the adapter, which begins no more sessions than the budget allows.
    pub(crate) fn adapter(&self, budget: Arc<dyn SessionBudget>) -> anyhow::Result<Discord> {
        let Self { api_url: api, gateway_url: gateway, cdn_url: cdn } = self;
        let at = DiscordUrls { api, gateway, cdn };
        let discord = Discord::open(at, Arc::new(SystemClock::start()), budget);
        discord.with_context(|| {
            format!("discord.api_url is {api}, gateway_url is {gateway} and cdn_url is {cdn}")
        })
    }
}

/// The address of Telegram. Since 0.2.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct TelegramSection {
    /// The Bot API: Telegram's own, or a server of the operator.
    pub(crate) api_url: String,
}

impl Default for TelegramSection {
    fn default() -> Self {
        Self { api_url: nightdesk_telegram::API_URL.to_owned() }
    }
}

impl TelegramSection {
    /// Returns the adapter.
    pub(crate) fn adapter(&self) -> anyhow::Result<Telegram> {
        let telegram = Telegram::open(&self.api_url, Arc::new(SystemClock::start()));
        telegram.with_context(|| format!("telegram.api_url is {}", self.api_url))
    }
}

/// The audit log settings. Since 0.1.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AuditSection {
    /// The file to which the heads of the audit log are appended every hour, and with which `nightdesk audit verify`
    /// compares. Store it where an attacker with write access to the database cannot write. Without it, there are no
    /// anchors.
    pub(crate) anchor_file: Option<PathBuf>,
}

/// The list of erased tenants. Since 0.2.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ErasureSection {
    /// The file with the list of erased tenants, outside the database. Every start erases its tenants again, so that a
    /// restored backup does not bring them back. Every node and every operator's machine needs the same file. Without
    /// it, there is no list.
    pub(crate) list_file: Option<PathBuf>,
}

impl Config {
    /// Returns the configuration of a trial desk, on a server that trusts every local client. It has no key file.
    pub(crate) fn for_trial(address: SocketAddr, server_port: u16, database: &str) -> Self {
        let url = format!("postgres://nightdesk_app@127.0.0.1:{server_port}/{database}");
        Self {
            listen: ListenSection::on(address),
            database: DatabaseSection {
                url,
                password_file: None,
                migrate_url: None,
                migrate_password_file: None,
                durability: DurabilityCheck::Checked,
            },
            redis: None,
            vault: VaultSection::default(),
            node: NodeSection::default(),
            log: LogSection { format: LogFormat::Pretty, filter: "warn".to_owned() },
            metrics: Metrics::default(),
            traces: TracesSection::default(),
            wake: WakeSection::default(),
            schedule: ScheduleSection::default(),
            limits: RateSettings::default(),
            audit: AuditSection::default(),
            erasure: ErasureSection::default(),
            outside: Rules::default(),
            media: MediaSection { place: "memory:///".to_owned() },
            discord: DiscordSection::default(),
            telegram: TelegramSection::default(),
            issuer: IssuingSection::default(),
            issuers: Vec::new(),
            logins: Vec::new(),
            alerts: AlertsSection::default(),
            mail: None,
            ways: Vec::new(),
        }
    }

    /// Reads the file and the overrides from the environment.
    pub(crate) fn read(file: &Path) -> anyhow::Result<Self> {
        let sources = config::Config::builder()
            .add_source(config::File::from(file).format(config::FileFormat::Toml))
            .add_source(
                config::Environment::with_prefix("NIGHTDESK")
                    .separator("__")
                    .prefix_separator("__"),
            );
        let built =
            sources.build().with_context(|| format!("could not read {}", file.display()))?;
        let config: Self = built.try_deserialize().with_context(|| {
            format!("{} is not a valid configuration of the desk", file.display())
        })?;
        config.validate()?;
        Ok(config)
    }

    fn validate(&self) -> anyhow::Result<()> {
        ensure!(!self.node.name.is_empty(), "node.name is empty; give this node a name");
        self.issuer.validate()?;
        let public_url = self.public_url();
        ensure!(
            public_url.starts_with("https://") || public_url.starts_with("http://"),
            "listen.public_url is {public_url}; write it like https://desk.example.org"
        );
        transport::check_listener(&self.listen, &public_url)?;
        self.listen.proxies()?;
        self.redis.as_ref().map_or(Ok(()), transport::check_redis)?;
        self.wake.by_command()?;
        self.wake.still_waking_after()?;
        self.alerts.validate()?;
        self.mail.as_ref().map_or(Ok(()), MailSection::validate)?;
        drop(self.telegram.adapter()?);
        keys::check(&self.vault)?;
        trusted_issuers(&self.issuers, &self.public_url())?;
        ways::check(&self.ways, &self.outside)?;
        let redis = self.redis.as_ref().map(|redis| &redis.url);
        let urls = [Some(&self.database.url), self.database.migrate_url.as_ref(), redis];
        for url in urls.into_iter().flatten() {
            let user = url.split_once("://").and_then(|(_, rest)| rest.split_once('@'));
            if user.is_some_and(|(user, _)| user.contains(':')) {
                bail!(
                    "the URL of a server contains a password; put the password into a file, and name it as password_file"
                );
            }
        }
        Ok(())
    }

    /// Returns the URL at which people and agents reach the desk, without a trailing slash.
    pub(crate) fn public_url(&self) -> String {
        let ListenSection { address, public_url, .. } = &self.listen;
        let scheme = if self.listen.tls_files().is_some() { "https" } else { "http" };
        let url = public_url.clone().unwrap_or_else(|| format!("{scheme}://{address}"));
        url.trim_end_matches('/').to_owned()
    }

    /// Returns the URL at which other nodes reach this one. `None`: it listens on every address and names none.
    pub(crate) fn peer_url(&self) -> Option<String> {
        let address = self.listen.address;
        let scheme = if self.listen.tls_files().is_some() { "https" } else { "http" };
        let own = (!address.ip().is_unspecified()).then(|| format!("{scheme}://{address}"));
        self.node.peer_url.clone().or(own)
    }

    /// Opens the vault with its keys.
    pub(crate) async fn vault(&self) -> anyhow::Result<Vault> {
        Ok(Vault::from_key_file(&keys::text(&self.vault).await?)?)
    }
}

#[cfg(test)]
mod tests;
