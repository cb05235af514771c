//! Configuration: one TOML file, and `NIGHTDESK__SECTION__KEY` over it. Read once, here.

mod issuers;
mod ways;

use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, bail, ensure};
use nightdesk_api::Relays;
use nightdesk_desk::Raised;
use nightdesk_discord::{Addresses, Discord};
use nightdesk_outside::Rules;
use nightdesk_port::Budget;
use nightdesk_schedule::{ByHmac, ByJwt, Secrets};
use nightdesk_telegram::Telegram;
use nightdesk_types::SystemClock;
use nightdesk_types::limits::WAKES_PER_HOUR;
use nightdesk_vault::Vault;
use nightdesk_wake::ByCommand;
use serde::Deserialize;
use zeroize::Zeroizing;

mod keys;

#[cfg(test)]
pub(crate) use issuers::Ambient;
pub(crate) use issuers::{Issuer, Issuing, trusted};
pub(crate) use keys::read_again;
pub(crate) use ways::WaySection;

/// Everything an operator can set.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Config {
    /// Where the desk listens.
    #[serde(default)]
    pub(crate) listen: Listen,
    /// Where the truth is kept.
    pub(crate) database: Database,
    /// Where nodes ring for each other. A desk of one node needs none.
    pub(crate) redis: Option<Redis>,
    /// Where keys are kept.
    pub(crate) vault: VaultSection,
    /// Which node this is.
    #[serde(default)]
    pub(crate) node: Node,
    /// How it logs.
    #[serde(default)]
    pub(crate) log: Log,
    /// Where its numbers are read.
    #[serde(default)]
    pub(crate) metrics: Metrics,
    /// Where its traces go.
    #[serde(default)]
    pub(crate) traces: Traces,
    /// How agents are woken.
    #[serde(default)]
    pub(crate) wake: Waking,
    /// Who else says that jobs are due.
    #[serde(default)]
    pub(crate) schedule: Scheduling,
    /// How often what may be done.
    #[serde(default)]
    pub(crate) limits: Raised,
    /// How what was done is kept.
    #[serde(default)]
    pub(crate) audit: Audit,
    /// What tenants may name for us to call.
    #[serde(default)]
    pub(crate) outside: Rules,
    /// Where files lie.
    #[serde(default)]
    pub(crate) media: MediaSection,
    /// Where Discord is.
    #[serde(default)]
    pub(crate) discord: DiscordSection,
    /// Where Telegram is.
    #[serde(default)]
    pub(crate) telegram: TelegramSection,
    /// How the desk signs its own tokens.
    #[serde(default)]
    pub(crate) issuer: Issuing,
    /// Who is trusted to vouch for machines besides the desk itself.
    #[serde(default)]
    pub(crate) issuers: Vec<Issuer>,
    /// By which ways letters go to agents that take none through their inboxes.
    #[serde(default)]
    pub(crate) ways: Vec<WaySection>,
}

/// Where the desk listens. Since 0.1.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Listen {
    /// The address for webhooks and gateways. Put TLS in front of any that is not loopback.
    pub(crate) address: SocketAddr,
    /// Where people and agents find it: `https://desk.example.org`. Without it, the address.
    pub(crate) public_url: Option<String>,
}

impl Default for Listen {
    fn default() -> Self {
        Self { address: SocketAddr::from(([127, 0, 0, 1], 8800)), public_url: None }
    }
}

/// Where the truth is kept. Since 0.1.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Database {
    /// Where PostgreSQL is, and as whom the desk logs in: `postgres://nightdesk_app@host/db`.
    /// It holds no password.
    pub(crate) url: String,
    /// The file that holds the password.
    pub(crate) password_file: Option<PathBuf>,
    /// As whom `migrate` logs in: somebody who may create roles, at least the first time.
    pub(crate) migrate_url: Option<String>,
    /// The file that holds that one's password.
    pub(crate) migrate_password_file: Option<PathBuf>,
}

/// Where nodes ring for each other. Since 0.1.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Redis {
    /// Where Redis is: `redis://host:6379`, or `rediss://host:6379` over TLS. It holds no
    /// password.
    pub(crate) url: String,
    /// The file that holds the password.
    pub(crate) password_file: Option<PathBuf>,
}

/// Where keys are kept. Since 0.1.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct VaultSection {
    /// The file with the key that wraps every tenant's data key. Make it with
    /// `nightdesk key new`, keep it out of the database and its backups, and do not lose it. It may
    /// hold several keys, one a line: the first seals, all of them open.
    pub(crate) key_file: Option<PathBuf>,
    /// Files with keys that only open what they sealed, until `nightdesk key rotate` has run.
    #[serde(default)]
    pub(crate) old_key_files: Vec<PathBuf>,
    /// In place of a file: a program that puts the keys out, with its arguments. It gets no shell,
    /// and ten seconds.
    #[serde(default)]
    pub(crate) key_command: Vec<String>,
}

/// Which node this is. Since 0.1.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Node {
    /// Its name: the same over restarts, another on each node.
    pub(crate) name: String,
}

impl Default for Node {
    fn default() -> Self {
        Self { name: "desk-1".to_owned() }
    }
}

/// How it logs. Since 0.1.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Log {
    /// `pretty` for a person, `json` for a program.
    pub(crate) format: LogFormat,
    /// What is logged: `info`, or finer for a part, as in `nightdesk_line=debug,info`.
    pub(crate) filter: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum LogFormat {
    Pretty,
    Json,
}

impl Default for Log {
    fn default() -> Self {
        Self { format: LogFormat::Pretty, filter: "info".to_owned() }
    }
}

/// Where its numbers are read. Since 0.1.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Metrics {
    /// The address of `/metrics`, for Prometheus. Keep it off the street. Without it, nowhere.
    pub(crate) address: Option<SocketAddr>,
}

/// Where its traces go. Since 0.1.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Traces {
    /// An OTLP collector's address for traces, as `http://127.0.0.1:4318/v1/traces`. Without
    /// it, nowhere.
    pub(crate) otlp_url: Option<String>,
}

/// Who else says that jobs are due. Since 0.1.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Scheduling {
    /// The file with the secrets that other schedulers sign with, one a line: all of them are good, so that
    /// one can be replaced. Without it, the desk's own scheduler is the only one.
    pub(crate) relay_secrets_file: Option<PathBuf>,
}

impl Scheduling {
    /// What other schedulers prove themselves by, to a desk that is found there.
    pub(crate) fn relays(&self, public_url: &str) -> anyhow::Result<Relays> {
        let Some(file) = &self.relay_secrets_file else { return Ok(Relays::default()) };
        let read = std::fs::read_to_string(file).map(Zeroizing::new);
        let text = read.with_context(|| {
            format!("could not read schedule.relay_secrets_file {}", file.display())
        })?;
        let secrets = Secrets::read(&text).with_context(|| {
            format!("schedule.relay_secrets_file {} is of no use", file.display())
        })?;
        let url = format!("{public_url}/api/agent-cron/relay");
        Ok(Relays::by(vec![Arc::new(ByHmac(secrets.clone())), Arc::new(ByJwt { secrets, url })]))
    }
}

/// How agents are woken. Since 0.1.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Waking {
    /// How often one agent is woken in an hour. More wait until the hour is over, and their owner is
    /// told.
    pub(crate) per_hour: NonZeroU32,
    /// A program of yours that wakes agents, with its arguments: it is run when an agent's URLs were
    /// of no use, or it has none. It gets `{agent}` and `{tenant}`, no shell, and ten seconds.
    /// Without it, only URLs are called.
    pub(crate) command: Vec<String>,
}

impl Default for Waking {
    fn default() -> Self {
        let per_hour = NonZeroU32::new(WAKES_PER_HOUR).unwrap_or(NonZeroU32::MIN);
        Self { per_hour, command: Vec::new() }
    }
}

impl Waking {
    /// The program, if there is one.
    pub(crate) fn by_command(&self) -> anyhow::Result<Option<ByCommand>> {
        if self.command.is_empty() {
            return Ok(None);
        }
        Ok(Some(ByCommand::new(&self.command)?))
    }
}

/// Where files lie that agents give the desk to send, for an hour. Since 0.2.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct MediaSection {
    /// A folder that every node sees, or a bucket: `s3://files/desk`, `gs://…`, `az://…`. A bucket's keys
    /// are taken from the environment, as its own tools do.
    pub(crate) place: String,
}

impl Default for MediaSection {
    fn default() -> Self {
        Self { place: "media".to_owned() }
    }
}

/// Where Discord is. Since 0.2.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[expect(clippy::struct_field_names, reason = "in the file they stand alone")]
pub(crate) struct DiscordSection {
    /// What is asked of it.
    pub(crate) api_url: String,
    /// What it tells.
    pub(crate) gateway_url: String,
    /// What people attach there.
    pub(crate) cdn_url: String,
}

impl Default for DiscordSection {
    fn default() -> Self {
        let Addresses { api, gateway, cdn } = Addresses::default();
        let [api_url, gateway_url, cdn_url] = [api, gateway, cdn].map(str::to_owned);
        Self { api_url, gateway_url, cdn_url }
    }
}

impl DiscordSection {
    /// Its adapter, which begins no more sessions than the budget has.
    pub(crate) fn adapter(&self, budget: Arc<dyn Budget>) -> anyhow::Result<Discord> {
        let Self { api_url: api, gateway_url: gateway, cdn_url: cdn } = self;
        let at = Addresses { api, gateway, cdn };
        let discord = Discord::open(at, Arc::new(SystemClock::started()), budget);
        discord.with_context(|| {
            format!("discord.api_url is {api}, gateway_url is {gateway} and cdn_url is {cdn}")
        })
    }
}

/// Where Telegram is. Since 0.2.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct TelegramSection {
    /// The Bot API: Telegram's own, or a server of yours.
    pub(crate) api_url: String,
}

impl Default for TelegramSection {
    fn default() -> Self {
        Self { api_url: nightdesk_telegram::API_URL.to_owned() }
    }
}

impl TelegramSection {
    /// Its adapter.
    pub(crate) fn adapter(&self) -> anyhow::Result<Telegram> {
        let telegram = Telegram::open(&self.api_url, Arc::new(SystemClock::started()));
        telegram.with_context(|| format!("telegram.api_url is {}", self.api_url))
    }
}

/// How what was done is kept. Since 0.1.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Audit {
    /// The file to which the heads of the audit log are appended every hour, and with which
    /// `nightdesk audit verify` compares. Keep it where who can write to the database cannot.
    /// Without it, nowhere.
    pub(crate) anchor_file: Option<PathBuf>,
}

impl Config {
    /// A desk to try, on a server that trusts everybody who can reach it. It has no key file.
    pub(crate) fn to_try(address: SocketAddr, server_port: u16, database: &str) -> Self {
        let url = format!("postgres://nightdesk_app@127.0.0.1:{server_port}/{database}");
        Self {
            listen: Listen { address, public_url: None },
            database: Database {
                url,
                password_file: None,
                migrate_url: None,
                migrate_password_file: None,
            },
            redis: None,
            vault: VaultSection::default(),
            node: Node::default(),
            log: Log { format: LogFormat::Pretty, filter: "warn".to_owned() },
            metrics: Metrics::default(),
            traces: Traces::default(),
            wake: Waking::default(),
            schedule: Scheduling::default(),
            limits: Raised::default(),
            audit: Audit::default(),
            outside: Rules::default(),
            media: MediaSection::default(),
            discord: DiscordSection::default(),
            telegram: TelegramSection::default(),
            issuer: Issuing::default(),
            issuers: Vec::new(),
            ways: Vec::new(),
        }
    }

    /// Reads the file, and what the environment says over it.
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
        let config: Self = built
            .try_deserialize()
            .with_context(|| format!("{} is not a configuration of ours", file.display()))?;
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
        self.wake.by_command()?;
        drop(self.telegram.adapter()?);
        keys::check(&self.vault)?;
        trusted(&self.issuers, &self.public_url())?;
        ways::check(&self.ways, &self.outside)?;
        let redis = self.redis.as_ref().map(|redis| &redis.url);
        let urls = [Some(&self.database.url), self.database.migrate_url.as_ref(), redis];
        for url in urls.into_iter().flatten() {
            let user = url.split_once("://").and_then(|(_, rest)| rest.split_once('@'));
            if user.is_some_and(|(user, _)| user.contains(':')) {
                bail!(
                    "the URL of a server holds a password; put it into a file and name that as password_file"
                );
            }
        }
        Ok(())
    }

    /// Where people and agents find the desk, without a slash at its end.
    pub(crate) fn public_url(&self) -> String {
        let Listen { address, public_url } = &self.listen;
        let url = public_url.clone().unwrap_or_else(|| format!("http://{address}"));
        url.trim_end_matches('/').to_owned()
    }

    /// Opens the vault with its keys.
    pub(crate) async fn vault(&self) -> anyhow::Result<Vault> {
        Ok(Vault::from_key_file(&keys::text(&self.vault).await?)?)
    }
}

/// The password a file holds, without the newline at its end.
pub(crate) fn password(file: Option<&Path>) -> anyhow::Result<Option<String>> {
    let Some(file) = file else { return Ok(None) };
    let text = std::fs::read_to_string(file)
        .with_context(|| format!("could not read the password file {}", file.display()))?;
    Ok(Some(text.trim_end_matches(['\r', '\n']).to_owned()))
}

#[cfg(test)]
mod tests;
