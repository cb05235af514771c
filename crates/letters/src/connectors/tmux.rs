//! Types letters into the terminals in which agents work.
//!
//! A letter is typed as text only: no shell reads it on the way, no key is pressed but the last Enter, and no character
//! of it can move the cursor.

use std::collections::BTreeMap;
use std::process::Stdio;
use std::sync::Arc;

use async_trait::async_trait;
use nightdesk_protocol::delivery::{
    AgentAbility, AgentDescriptor, AgentStatus, ConnectorCapabilities, DeliveryReceipt, Features,
    Meta, Payload, WakeOpts, WakeReceipt,
};
use nightdesk_types::Clock;
use nightdesk_types::limits::{TMUX_WAIT, TMUX_WORDS_BYTES_MAX};
use tokio::process::Command;
use tokio::sync::Mutex;
use tokio::time::timeout;

use super::recent_receipts::RecentReceipts;
use super::{meta_or_new, wake_receipt};
use crate::address::Address;
use crate::connector::AgentConnector;
use crate::error::{ConnectorError, FailureCause};
use crate::ids::millis;

/// Maximum length in bytes of the name of a session or a window.
const TARGET_BYTES_MAX: usize = 64;

/// The error for a name that tmux could read as something else.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the name of a tmux session or window must be 1 to 64 letters, digits, dashes and underscores, not {0:?}"
)]
pub struct BadTarget(pub String);

/// Types letters into terminals. An agent is a tmux session; a session of the agent is a window in it.
pub struct Tmux {
    /// The server's name, as in `tmux -L`.
    server: String,
    agents: BTreeMap<String, String>,
    clock: Arc<dyn Clock>,
    recent: RecentReceipts<Option<String>>,
    /// Serialises typing, so that letters do not mix.
    typing: Mutex<()>,
}

impl std::fmt::Debug for Tmux {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { server, agents, .. } = self;
        f.debug_struct("Tmux")
            .field("server", server)
            .field("agents", agents)
            .finish_non_exhaustive()
    }
}

impl Tmux {
    /// Creates the connector. `agents` maps the names of agents to tmux sessions on this server.
    pub fn new(
        server: &str,
        agents: BTreeMap<String, String>,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, BadTarget> {
        let bad = agents.values().map(String::as_str).chain([server]).find(|name| !is_target(name));
        if let Some(bad) = bad {
            return Err(BadTarget(bad.to_owned()));
        }
        let (server, recent) = (server.to_owned(), RecentReceipts::new());
        Ok(Self { server, agents, clock, recent, typing: Mutex::new(()) })
    }

    /// Types a letter, once. Returns the window, if the address names one.
    async fn type_letter(
        &self,
        agent_id: &str,
        session: Option<&str>,
        meta: &Meta,
        words: &str,
    ) -> Result<Option<String>, ConnectorError> {
        let fails = |cause: FailureCause| cause.into_error(agent_id);
        let address = Address::parse(agent_id);
        let known = address.find_known_name(|name| self.agents.contains_key(name));
        let name = known.ok_or_else(|| fails(FailureCause::UnknownAgent))?;
        let target =
            format_target(&self.agents[name], session).map_err(|error| fails(error.into()))?;
        let line = format_line(meta, words);
        if line.len() > TMUX_WORDS_BYTES_MAX {
            let most = format!("a letter to a terminal has at most {TMUX_WORDS_BYTES_MAX} bytes");
            return Err(fails(FailureCause::Invalid(most)));
        }
        let _typing = self.typing.lock().await;
        if let Some(before) = self.recent.find(name, &meta.dispatch_id) {
            return Ok(before);
        }
        self.run_tmux(&["send-keys", "-t", &target, "-l", "--", &line]).await.map_err(fails)?;
        self.run_tmux(&["send-keys", "-t", &target, "Enter"]).await.map_err(fails)?;
        let session = session.map(str::to_owned);
        self.recent.insert(name, &meta.dispatch_id, session.clone());
        Ok(session)
    }

    /// Runs tmux, without a shell.
    async fn run_tmux(&self, arguments: &[&str]) -> Result<(), FailureCause> {
        let mut tmux = Command::new("tmux");
        tmux.args(["-L", &self.server]).args(arguments);
        tmux.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).kill_on_drop(true);
        let ran = timeout(TMUX_WAIT, tmux.output()).await.map_err(|_| FailureCause::TimedOut)?;
        let ran =
            ran.map_err(|error| FailureCause::Network(format!("tmux cannot be run: {error}")))?;
        if ran.status.success() {
            return Ok(());
        }
        let stderr = String::from_utf8_lossy(&ran.stderr);
        Err(FailureCause::Network(format!("tmux: {}", stderr.trim())))
    }

    async fn has_session(&self, session: &str) -> bool {
        self.run_tmux(&["has-session", "-t", &format!("={session}")]).await.is_ok()
    }
}

impl From<BadTarget> for FailureCause {
    fn from(bad: BadTarget) -> Self {
        Self::Invalid(bad.to_string())
    }
}

fn is_target(name: &str) -> bool {
    let plain = |sign: char| sign.is_ascii_alphanumeric() || matches!(sign, '-' | '_');
    !name.is_empty()
        && name.len() <= TARGET_BYTES_MAX
        && !name.starts_with('-')
        && name.chars().all(plain)
}

/// Returns the target with exact names, because tmux also accepts the beginning of a name.
fn format_target(session: &str, window: Option<&str>) -> Result<String, BadTarget> {
    match window {
        Some(window) if !is_target(window) => Err(BadTarget(window.to_owned())),
        Some(window) => Ok(format!("={session}:={window}.")),
        None => Ok(format!("={session}:.")),
    }
}

/// Formats a letter as one line: its sender and its text.
fn format_line(meta: &Meta, words: &str) -> String {
    let caller = meta.origin.caller_agent_id.as_deref();
    let from = meta.sender.as_deref().or(caller).unwrap_or(&meta.origin.skill_name);
    let line = format!("[letter {} from {from}] {words}", meta.dispatch_id);
    line.chars().map(|sign| if sign.is_control() { ' ' } else { sign }).collect()
}

#[async_trait]
impl AgentConnector for Tmux {
    fn static_capabilities() -> ConnectorCapabilities {
        let (no, yes) = (Some(false), Some(true));
        let features = Features {
            deliver: yes,
            wake: yes,
            list_agents: yes,
            agent_status: yes,
            health_check: yes,
            request_response: no,
        };
        ConnectorCapabilities::new("tmux", features)
    }

    async fn list_agents(&self) -> Result<Vec<AgentDescriptor>, ConnectorError> {
        let agent = |agent_id: &String| AgentDescriptor {
            agent_id: agent_id.clone(),
            agent_name: None,
            capabilities: Some(vec![
                AgentAbility::Deliver,
                AgentAbility::Wake,
                AgentAbility::Augment,
                AgentAbility::Template,
            ]),
        };
        Ok(self.agents.keys().map(agent).collect())
    }

    async fn deliver(
        &self,
        agent_id: &str,
        payload: &Payload,
    ) -> Result<DeliveryReceipt, ConnectorError> {
        let session = Address::parse(agent_id).session;
        let (meta, words) = (payload.meta(), payload.text());
        let session_id = self.type_letter(agent_id, session, meta, words).await?;
        let delivered_at = millis(&*self.clock);
        Ok(DeliveryReceipt { delivered_at, session_id, ..DeliveryReceipt::default() })
    }

    async fn wake(&self, agent_id: &str, opts: &WakeOpts) -> Result<WakeReceipt, ConnectorError> {
        let (address, meta) = (Address::parse(agent_id), meta_or_new(opts, millis(&*self.clock)));
        let words = opts.context.as_deref().unwrap_or_default();
        self.type_letter(agent_id, address.session_of(opts), &meta, words).await?;
        Ok(wake_receipt(&address, opts, millis(&*self.clock), true))
    }

    async fn health_check(&self) -> bool {
        for session in self.agents.values() {
            if !self.has_session(session).await {
                return false;
            }
        }
        true
    }

    async fn agent_status(&self, agent_id: &str) -> Result<AgentStatus, ConnectorError> {
        let address = Address::parse(agent_id);
        let known = address.find_known_name(|name| self.agents.contains_key(name));
        let name = known.ok_or_else(|| FailureCause::UnknownAgent.into_error(agent_id))?;
        let is_up = self.has_session(&self.agents[name]).await;
        Ok(if is_up { AgentStatus::Idle } else { AgentStatus::Asleep })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_is_taken_for_something_else() {
        for bad in ["", "-t", "a:b", "a.b", "a b", "=a", "$1", "a;b", "a\n", &"x".repeat(65)] {
            assert!(!is_target(bad), "{bad:?}");
        }
        assert_eq!(format_target("perry", Some("kitchen")).unwrap(), "=perry:=kitchen.");
        assert_eq!(format_target("perry", Some("k;ls")), Err(BadTarget("k;ls".to_owned())));
    }

    #[test]
    fn a_letter_is_one_line_and_moves_no_cursor() {
        let meta = meta_or_new(&WakeOpts::default(), nightdesk_protocol::delivery::Millis(1));
        let line = format_line(&meta, "a\nrm -rf /\u{1b}[2J\r\u{7}b");
        assert!(!line.chars().any(char::is_control), "{line:?}");
        assert!(line.ends_with("a rm -rf / [2J  b"), "{line:?}");
    }
}
