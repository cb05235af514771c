//! Checks in the tables that an acknowledged event is stored.

use std::sync::{Arc, Mutex, PoisonError};

use nightdesk_judge::Event;
use tokio::task::spawn_blocking;

use super::Square;
use super::poster::Ready;
use crate::chaos::plan::Plan;
use crate::psql::Looker;

/// Newest entries of an inbox among which a new one is searched.
const ENTRIES_MAX: usize = 200;

/// The connection for lookups.
#[derive(Debug)]
pub(super) struct Look(Mutex<Looker>);

impl Look {
    pub(super) fn into(plan: &Plan) -> Self {
        Self(Mutex::new(Looker::at(plan.psql.clone(), plan.database_url.clone())))
    }

    /// Returns the number of rows, if the database is reachable.
    fn count(&self, sql: &str) -> Option<usize> {
        let mut looker = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        looker.ask(sql).ok()?.first()?.parse().ok()
    }

    /// Returns true if the statement succeeded.
    fn did(&self, sql: &str) -> bool {
        let mut looker = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        looker.ask(sql).is_ok()
    }
}

impl Square {
    /// Checks that an event is in the inboxes of all agents that see it, and records the result.
    pub(super) async fn look(&self, ready: &Ready) {
        if ready.seen_by.is_empty() {
            return;
        }
        let (look, sql) = (Arc::clone(&self.look), sql(&self.plan, ready));
        let found = spawn_blocking(move || look.count(&sql)).await.ok().flatten();
        if let Some(found) = found {
            let found = found >= ready.seen_by.len();
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

fn sql(plan: &Plan, ready: &Ready) -> String {
    let inbox = |member: &usize| {
        let member = &plan.cast.members[*member];
        let mine = format!("tenant_id = '{}' and agent_id = '{}'", member.tenant, member.agent);
        let nonce = &ready.id;
        let body = format!(
            "position('{nonce} '::bytea in body) + position('/{nonce}\"'::bytea in body) > 0"
        );
        format!(
            "select exists (select from (
                 select body from inbox_entries where {mine} order by seq desc limit {ENTRIES_MAX}
             ) as newest where {body})
             or exists (select from inbox_parked where {mine} and {body}) as found"
        )
    };
    let inboxes: Vec<String> = ready.seen_by.iter().map(inbox).collect();
    format!("select count(*) filter (where found) from ({}) as l", inboxes.join(" union all "))
}
