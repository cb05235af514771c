//! Checks in the tables that an acknowledged event is stored.

use std::collections::HashMap;
use std::fs;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, Result};
use nightdesk_judge::Event;
use nightdesk_types::{AgentId, DataKeyId, TenantId};
use nightdesk_vault::{BodyId, BodyKind, BodyOwner, DataKey, Vault, WrappedKey};
use tokio::task::spawn_blocking;

use super::Square;
use super::poster::Ready;
use crate::chaos::plan::Plan;
use crate::psql::Looker;
use crate::setup::Member;

/// Newest entries of an inbox among which a new one is searched.
const ENTRIES_MAX: usize = 200;

/// The connection for lookups.
#[derive(Debug)]
pub(super) struct Look(Mutex<BodyReader>);

/// The inbox of an agent that sees an event.
#[derive(Clone, Copy, Debug)]
struct WatchedInbox {
    tenant: TenantId,
    agent: AgentId,
}

/// A connection, with the data keys that it has opened.
#[derive(Debug)]
struct BodyReader {
    looker: Looker,
    vault: Vault,
    keys: HashMap<(TenantId, DataKeyId), DataKey>,
}

impl Look {
    pub(super) fn into(plan: &Plan) -> Result<Self> {
        let keys = fs::read_to_string(&plan.vault_key_file).context("could not read the keys")?;
        let looker = Looker::at(plan.psql.clone(), plan.database_url.clone());
        let vault = Vault::from_key_file(&keys)?;
        Ok(Self(Mutex::new(BodyReader { looker, vault, keys: HashMap::new() })))
    }

    /// Returns true if an event is in an inbox, and nothing if the database is not reachable.
    fn finds(&self, nonce: &str, inbox: WatchedInbox) -> Option<bool> {
        let mut reader = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let rows = reader.looker.ask(&bodies(inbox)).ok()?;
        let (plain, in_path) = (format!("{nonce} "), format!("/{nonce}\""));
        let is_it = |body: &str| body.contains(&plain) || body.contains(&in_path);
        Some(rows.iter().any(|row| reader.open(inbox, row).is_some_and(|body| is_it(&body))))
    }

    /// Returns true if the statement succeeded.
    fn did(&self, sql: &str) -> bool {
        let mut reader = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        reader.looker.ask(sql).is_ok()
    }
}

impl BodyReader {
    /// Opens the body of a row.
    fn open(&mut self, inbox: WatchedInbox, row: &str) -> Option<String> {
        let WatchedInbox { tenant, agent } = inbox;
        let mut columns = row.split('|');
        let key = DataKeyId::new(columns.next()?.parse().ok()?);
        let id = BodyId::from_uuid(columns.next()?.parse().ok()?);
        let (sealed, wrapped) = (hex::decode(columns.next()?).ok()?, columns.next()?);
        if !self.keys.contains_key(&(tenant, key)) {
            let wrapped = WrappedKey(hex::decode(wrapped).ok()?);
            let opened = self.vault.unwrap(tenant, key, &wrapped).ok()?;
            self.keys.insert((tenant, key), opened);
        }
        let owner = BodyOwner { tenant, party: agent.uuid(), kind: BodyKind::Message };
        let body = self.keys.get(&(tenant, key))?.open_body(&owner, id, sealed).ok()?;
        String::from_utf8(body).ok()
    }
}

/// Returns the query for the newest entries and the parked ones of an inbox.
fn bodies(inbox: WatchedInbox) -> String {
    let WatchedInbox { tenant, agent } = inbox;
    let mine = format!("tenant_id = '{tenant}' and agent_id = '{agent}'");
    let columns = "tenant_id, key_id, body_id, body";
    format!(
        "select e.key_id, e.body_id, encode(e.body, 'hex'), encode(k.wrapped, 'hex') from (
             (select {columns} from inbox_entries where {mine} order by seq desc limit {ENTRIES_MAX})
             union all select {columns} from inbox_parked where {mine}
         ) as e join tenant_keys k on k.tenant_id = e.tenant_id and k.key_id = e.key_id"
    )
}

impl Square {
    /// Checks that an event is in the inboxes of all agents that see it, and records the result.
    pub(super) async fn look(&self, ready: &Ready) {
        if ready.seen_by.is_empty() {
            return;
        }
        let (look, nonce) = (Arc::clone(&self.look), ready.id.clone());
        let members = ready.seen_by.iter().map(|member| &self.plan.cast.members[*member]);
        let inbox = |member: &Member| WatchedInbox { tenant: member.tenant, agent: member.agent };
        let inboxes: Vec<WatchedInbox> = members.map(inbox).collect();
        let look = move || -> Option<bool> {
            for inbox in inboxes {
                if !look.finds(&nonce, inbox)? {
                    return Some(false);
                }
            }
            Some(true)
        };
        if let Some(found) = spawn_blocking(look).await.ok().flatten() {
            self.notes.note(Event::PlatLook { id: ready.id.clone(), found });
        }
    }
}

impl Square {
    /// Changes access, if the database is reachable.
    pub(super) async fn change(&self, sql: &str) -> bool {
        let (change, sql) = (Arc::clone(&self.change), sql.to_owned());
        spawn_blocking(move || change.did(&sql)).await.unwrap_or(false)
    }
}
