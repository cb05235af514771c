//! File drop: a letter is a file in its agent's folder, written atomically.

use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use nightdesk_protocol::delivery::{
    AgentAbility, AgentDescriptor, ConnectorCapabilities, Delivery, DeliveryReceipt, Features,
    Payload, WakeOpts, WakeReceipt, WakeRequest,
};
use nightdesk_types::Clock;
use nightdesk_types::limits::{AGENTS_PAGE_MAX, DISPATCH_ID_BYTES_MAX};
use serde::Serialize;
use tokio::task::spawn_blocking;

use super::{check_size, meta_or_new, wake_receipt};
use crate::address::Address;
use crate::connector::AgentConnector;
use crate::error::{ConnectorError, FailureCause};
use crate::ids::millis;

/// Puts letters into `DIR/AGENT/DISPATCH_ID.json`. Each folder in `DIR` is an agent.
pub struct FileDrop {
    dir: PathBuf,
    clock: Arc<dyn Clock>,
}

impl std::fmt::Debug for FileDrop {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FileDrop").field("dir", &self.dir).finish_non_exhaustive()
    }
}

impl FileDrop {
    /// Creates the connector for this folder.
    pub fn new(dir: PathBuf, clock: Arc<dyn Clock>) -> Self {
        Self { dir, clock }
    }

    /// Writes a file for an agent, once.
    async fn drop_letter(
        &self,
        agent_id: &str,
        dispatch_id: &str,
        letter: &impl Serialize,
    ) -> Result<String, ConnectorError> {
        let fails = |cause: FailureCause| cause.into_error(agent_id);
        let address = Address::parse(agent_id);
        let folder = address.find_known_name(|name| is_name(name) && self.dir.join(name).is_dir());
        let folder = self.dir.join(folder.ok_or_else(|| fails(FailureCause::UnknownAgent))?);
        if !is_name(dispatch_id) {
            return Err(fails(FailureCause::Invalid(
                "dispatch_id must be a valid file name".to_owned(),
            )));
        }
        let name = format!("{dispatch_id}.json");
        let bytes = serde_json::to_vec(letter)
            .map_err(|error| fails(FailureCause::Invalid(error.to_string())))?;
        let written = spawn_blocking({
            let name = name.clone();
            move || write_file(&folder, &name, &bytes)
        });
        match written.await {
            Ok(Ok(())) => Ok(name),
            Ok(Err(error)) => Err(fails(FailureCause::Network(error.to_string()))),
            Err(_) => Err(fails(FailureCause::Network("the write was interrupted".to_owned()))),
        }
    }
}

/// Returns true if a text is safe as the name of a file.
fn is_name(text: &str) -> bool {
    let plain = |sign: char| sign.is_ascii_alphanumeric() || matches!(sign, '-' | '_' | '.' | '@');
    !text.is_empty()
        && text.len() <= DISPATCH_ID_BYTES_MAX
        && !text.starts_with('.')
        && text.chars().all(plain)
}

/// Writes a file atomically and durably. An existing file stays as it is.
fn write_file(folder: &Path, name: &str, bytes: &[u8]) -> std::io::Result<()> {
    let (whole, part) = (folder.join(name), folder.join(format!(".{name}.part")));
    if whole.exists() {
        return Ok(());
    }
    let mut file = File::create(&part)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    // Unlike a rename, a hard link does not replace an existing file.
    match fs::hard_link(&part, &whole) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
        Ok(()) | Err(_) => {}
    }
    match fs::remove_file(&part) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    File::open(folder)?.sync_all()
}

#[async_trait]
impl AgentConnector for FileDrop {
    fn static_capabilities() -> ConnectorCapabilities {
        let (no, yes) = (Some(false), Some(true));
        let features = Features {
            deliver: yes,
            wake: no,
            list_agents: yes,
            agent_status: no,
            health_check: yes,
            request_response: no,
        };
        ConnectorCapabilities::new("file-drop", features)
    }

    async fn list_agents(&self) -> Result<Vec<AgentDescriptor>, ConnectorError> {
        let read = fs::read_dir(&self.dir);
        let read = read.map_err(|error| FailureCause::Network(error.to_string()).into_error(""))?;
        let folders = read.flatten().filter(|entry| entry.path().is_dir());
        let names = folders.filter_map(|entry| entry.file_name().into_string().ok());
        let mut names: Vec<String> =
            names.filter(|name| is_name(name)).take(AGENTS_PAGE_MAX).collect();
        names.sort();
        let can =
            || Some(vec![AgentAbility::Deliver, AgentAbility::Augment, AgentAbility::Template]);
        let agent = |agent_id| AgentDescriptor { agent_id, agent_name: None, capabilities: can() };
        Ok(names.into_iter().map(agent).collect())
    }

    async fn deliver(
        &self,
        agent_id: &str,
        payload: &Payload,
    ) -> Result<DeliveryReceipt, ConnectorError> {
        check_size(agent_id, payload.text())?;
        let letter = Delivery { agent_id: agent_id.to_owned(), payload: payload.clone() };
        let name = self.drop_letter(agent_id, &payload.meta().dispatch_id, &letter).await?;
        let session_id = Address::parse(agent_id).session.map(str::to_owned);
        let (delivered_at, delivery_id) = (millis(&*self.clock), Some(name));
        Ok(DeliveryReceipt { delivered_at, delivery_id, session_id, ..DeliveryReceipt::default() })
    }

    async fn wake(&self, agent_id: &str, opts: &WakeOpts) -> Result<WakeReceipt, ConnectorError> {
        check_size(agent_id, opts.context.as_deref().unwrap_or_default())?;
        let now = millis(&*self.clock);
        let (address, meta) = (Address::parse(agent_id), meta_or_new(opts, now));
        let session_id = address.session_of(opts).map(str::to_owned);
        let id = meta.dispatch_id.clone();
        let opts = WakeOpts { session_id, meta: Some(Box::new(meta)), ..opts.clone() };
        let letter = WakeRequest { agent_id: agent_id.to_owned(), opts };
        self.drop_letter(agent_id, &id, &letter).await?;
        Ok(wake_receipt(&address, &letter.opts, now, false))
    }

    async fn health_check(&self) -> bool {
        let probe = self.dir.join(".nightdesk.probe");
        let made = File::create(&probe).is_ok();
        made && fs::remove_file(&probe).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_leads_out_of_the_folder() {
        for bad in ["", ".", "..", "../x", "a/b", "/etc", ".hidden", "a\0b", "a\nb", "a b"] {
            assert!(!is_name(bad), "{bad:?}");
        }
        assert!(!is_name(&"x".repeat(DISPATCH_ID_BYTES_MAX + 1)));
        for good in ["perry", "perry@kitchen", "ed3ced3e-2fa1", "a.b_c"] {
            assert!(is_name(good), "{good}");
        }
    }
}
