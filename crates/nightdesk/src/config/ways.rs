//! Configuration of the delivery ways for letters to agents that take them elsewhere than in their inboxes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, ensure};
use nightdesk_letters::connectors::{FileDrop, HookTarget, Tmux, Webhook};
use nightdesk_letters::{AgentConnector, DeliveryMethod};
use nightdesk_outside::{Outside, Rules, TenantUrl};
use nightdesk_types::limits::WAYS_MAX;
use nightdesk_types::{SystemClock, TenantId};
use secrecy::SecretString;
use serde::Deserialize;

use super::secret_file;

/// A delivery way for letters to one agent, in place of its inbox. An agent can have several. Since 0.2.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WaySection {
    /// The agent's tenant, by name or id.
    pub(crate) tenant: String,
    /// The agent, by name or id.
    pub(crate) agent: String,
    /// Put letters into the agent's inbox too, beside its other ways.
    #[serde(default)]
    pub(crate) inbox: bool,
    /// Post letters to a URL.
    pub(crate) webhook: Option<WebhookWay>,
    /// Write letters as files into a folder.
    pub(crate) file_drop: Option<FileDropWay>,
    /// Type letters into a terminal.
    pub(crate) tmux: Option<TmuxWay>,
}

/// A URL to which letters are posted.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WebhookWay {
    /// The URL for letters; public https, unless `outside` allows more.
    pub(crate) url: String,
    /// The URL for wakes. Without it, wakes go to the URL for letters and do not wake the agent.
    pub(crate) wake_url: Option<String>,
    /// The URL that reports the agent's health, for `config check`.
    pub(crate) status_url: Option<String>,
    /// The file with the bearer token.
    pub(crate) bearer_file: Option<PathBuf>,
    /// The file with the secret that signs bodies (`X-Signature`).
    pub(crate) secret_file: Option<PathBuf>,
}

/// A folder in which letters are files.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FileDropWay {
    /// The parent folder. Letters go into its subfolder with the agent's name, which must exist.
    pub(crate) folder: PathBuf,
}

/// A terminal into which letters are typed.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TmuxWay {
    /// The session of tmux.
    pub(crate) session: String,
    /// The server of tmux, as `tmux -L` names it.
    #[serde(default = "default_server")]
    pub(crate) server: String,
}

fn default_server() -> String {
    "default".to_owned()
}

impl WaySection {
    /// Returns the selected way.
    pub(crate) fn way(&self) -> anyhow::Result<DeliveryMethod> {
        let ways = [
            self.inbox.then_some(DeliveryMethod::Road),
            self.webhook.as_ref().map(|_| DeliveryMethod::Webhook),
            self.file_drop.as_ref().map(|_| DeliveryMethod::FileDrop),
            self.tmux.as_ref().map(|_| DeliveryMethod::Tmux),
        ];
        let said: Vec<DeliveryMethod> = ways.into_iter().flatten().collect();
        ensure!(
            said.len() == 1,
            "ways: {self} needs exactly one of inbox, webhook, file_drop and tmux, and has {}",
            said.len()
        );
        Ok(said[0])
    }

    /// Returns the files with its secrets.
    pub(crate) fn secret_files(&self) -> impl Iterator<Item = &PathBuf> {
        let files = self.webhook.iter().flat_map(|hook| [&hook.bearer_file, &hook.secret_file]);
        files.flatten()
    }

    fn check(&self, rules: &Rules) -> anyhow::Result<()> {
        self.way()?;
        let urls = self
            .webhook
            .iter()
            .flat_map(|hook| [Some(&hook.url), hook.wake_url.as_ref(), hook.status_url.as_ref()]);
        for url in urls.flatten() {
            TenantUrl::parse(url, rules).with_context(|| format!("ways: {self}: {url}"))?;
        }
        if let Some(tmux) = &self.tmux {
            tmux.open(&self.agent).with_context(|| format!("ways: {self}"))?;
        }
        Ok(())
    }

    /// Returns the connector that delivers letters to the agent of that name.
    pub(crate) fn open(
        &self,
        tenant: TenantId,
        agent: &str,
        outside: &Outside,
    ) -> anyhow::Result<Arc<dyn AgentConnector>> {
        if let Some(hook) = &self.webhook {
            return Ok(Arc::new(hook.open(tenant, agent, outside)?));
        }
        if let Some(FileDropWay { folder }) = &self.file_drop {
            return Ok(Arc::new(FileDrop::new(folder.clone(), Arc::new(SystemClock::start()))));
        }
        let tmux = self
            .tmux
            .as_ref()
            .with_context(|| format!("ways: {self} has no connector of its own"))?;
        Ok(Arc::new(tmux.open(agent)?))
    }
}

impl std::fmt::Display for WaySection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "agent {} of {}", self.agent, self.tenant)
    }
}

impl WebhookWay {
    fn open(&self, tenant: TenantId, agent: &str, outside: &Outside) -> anyhow::Result<Webhook> {
        let Self { url, wake_url, status_url, bearer_file, secret_file } = self;
        let (url, wake_url, status_url) = (url.clone(), wake_url.clone(), status_url.clone());
        let agents = BTreeMap::from([(agent.to_owned(), HookTarget { url, wake_url, status_url })]);
        let clock = Arc::new(SystemClock::start());
        let mut webhook = Webhook::new(outside.clone(), tenant, agents, clock);
        if let Some(file) = bearer_file {
            webhook = webhook.with_bearer(secret(file)?);
        }
        if let Some(file) = secret_file {
            webhook = webhook.with_secret(secret(file)?);
        }
        Ok(webhook)
    }
}

impl TmuxWay {
    fn open(&self, agent: &str) -> anyhow::Result<Tmux> {
        let agents = BTreeMap::from([(agent.to_owned(), self.session.clone())]);
        Ok(Tmux::new(&self.server, agents, Arc::new(SystemClock::start()))?)
    }
}

fn secret(file: &Path) -> anyhow::Result<SecretString> {
    let text = secret_file::read(file)?;
    let text = text.trim();
    ensure!(!text.is_empty(), "{} is empty; put the secret into it", file.display());
    Ok(SecretString::from(text.to_owned()))
}

/// Checks all ways. No agent has two of one kind.
pub(crate) fn check(ways: &[WaySection], rules: &Rules) -> anyhow::Result<()> {
    ensure!(ways.len() <= WAYS_MAX, "agents can have at most {WAYS_MAX} ways of their own");
    let mut seen = BTreeSet::new();
    for way in ways {
        way.check(rules)?;
        let method = way.way()?;
        ensure!(
            seen.insert((&way.tenant, &way.agent, method)),
            "ways: {way} is listed twice with {}; remove one",
            method.slug()
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(toml: &str) -> Result<(), String> {
        #[derive(Deserialize)]
        struct Ways {
            ways: Vec<WaySection>,
        }
        let file = config::File::from_str(toml, config::FileFormat::Toml);
        let built = config::Config::builder().add_source(file).build().unwrap();
        let read: Ways = built.try_deserialize().map_err(|error| error.to_string())?;
        check(&read.ways, &Rules::default()).map_err(|error| format!("{error:#}"))
    }

    #[test]
    fn what_cannot_be_is_said_before_the_desk_starts() {
        let owl = "[[ways]]\ntenant = \"acme\"\nagent = \"owl\"\n";
        let tmux = format!("{owl}tmux = {{ session = \"owl\" }}\n");
        let cases = [
            (format!("{owl}webhook = {{ url = \"https://owl.example/letters\" }}"), None),
            (format!("{owl}file_drop = {{ folder = \"letters\" }}"), None),
            (tmux.clone(), None),
            (format!("{owl}inbox = true"), None),
            ([tmux.as_str(), &format!("{owl}inbox = true")].concat(), None),
            (format!("{tmux}inbox = true"), Some("and has 2")),
            (owl.to_owned(), Some("one of inbox, webhook, file_drop and tmux, and has 0")),
            (format!("{tmux}file_drop = {{ folder = \"a\" }}"), Some("and has 2")),
            ([tmux.as_str(), tmux.as_str()].concat(), Some("is listed twice with tmux")),
            (format!("{owl}tmux = {{ session = \"a:b\" }}"), Some("letters, digits")),
            (format!("{owl}webhook = {{ url = \"http://10.0.0.1\" }}"), Some("http://10.0.0.1")),
            (format!("{owl}pigeon = {{}}"), Some("pigeon")),
        ];
        for (toml, want) in cases {
            match (said(&toml), want) {
                (Ok(()), None) => {}
                (Err(words), Some(want)) => assert!(words.contains(want), "{toml}: {words}"),
                (said, want) => panic!("{toml}: {said:?}, not {want:?}"),
            }
        }
    }
}
