//! Checks the logs and the audit log once, when a world is idle.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use nightdesk_judge::Event;

use super::node::{self, Node};
use super::street;
use crate::secrets::canary::is_in;
use crate::setup::Cast;

/// Returns all secrets: the signing keys of gateways and of platforms.
pub(super) fn secrets(cast: &Cast) -> Vec<String> {
    let of_gateways = cast.members.iter().map(|member| member.secret.clone());
    let of_bots = cast.bots.iter().map(|bot| bot.key.clone());
    of_gateways.chain(of_bots).chain(street::secrets()).collect()
}

/// Reports if a log holds a secret (I22), and if the audit log is intact (I23).
pub(super) fn look(folder: &Path, secrets: &[String], nodes: &[Node]) -> Result<Vec<Event>> {
    let mut seen = Vec::new();
    for log in fs::read_dir(folder).context("could not list the logs")? {
        let path = log.context("could not list the logs")?.path();
        if path.extension().is_none_or(|kind| kind != "log") {
            continue;
        }
        let text = fs::read(&path).with_context(|| format!("could not read {}", path.display()))?;
        let text = String::from_utf8_lossy(&text);
        if secrets.iter().any(|secret| is_in(&text, secret)) {
            seen.push(Event::Canary { place: path.display().to_string() });
        }
    }
    seen.push(Event::Audited { fault: node::audit_fault(nodes)? });
    Ok(seen)
}
