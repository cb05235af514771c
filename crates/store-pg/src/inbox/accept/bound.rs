//! The accept of events with capabilities. Few events have one, so the others use a statement without them.

use fail::fail_point;
use nightdesk_inbox::{Accept, Bound};
use nightdesk_types::StoreError;
use nightdesk_types::limits::{DEDUPE_DAYS, INBOX_ENTRIES_MAX};
use uuid::Uuid;

use super::super::ordinal;
use super::{Columns, Row};
use crate::Pg;

/// Capabilities as columns.
#[derive(Default)]
pub(super) struct Lent {
    events: Vec<i32>,
    tenants: Vec<Uuid>,
    agents: Vec<Uuid>,
    sessions: Vec<Vec<u8>>,
    kinds: Vec<String>,
    sealed: Vec<Vec<u8>>,
    keys: Vec<i64>,
    secs: Vec<f64>,
}

/// Returns the capabilities of these events, if there are any.
pub(super) fn columns(events: &[Accept]) -> Option<Lent> {
    let mut lent = Lent::default();
    for (index, event) in events.iter().enumerate() {
        for bound in event.bound() {
            lent.push(ordinal(index), bound);
        }
    }
    (!lent.events.is_empty()).then_some(lent)
}

impl Lent {
    fn push(&mut self, event: i32, bound: &Bound) {
        let (scope, agent) = bound.agent;
        self.events.push(event);
        self.tenants.push(scope.tenant().uuid());
        self.agents.push(agent.uuid());
        self.sessions.push(bound.session.to_vec());
        self.kinds.push(bound.kind.clone());
        self.sealed.push(bound.sealed.clone());
        self.keys.push(bound.key.get());
        self.secs.push(bound.good_for.as_secs_f64());
    }
}

pub(super) async fn run(store: &Pg, columns: Columns, lent: Lent) -> Result<Vec<Row>, StoreError> {
    run_to_end!(store.single("put events"), |connection| {
        let Columns { tenants, operators, bots, keys, chats, unsendable, .. } = &columns;
        let marks = columns.marks.as_ref();
        fail_point!("store_pg::before_accept");
        sqlx::query_as!(
            Row,
            r#"select event as "event!", outcome as "outcome!", tenant, agent, seq,
                   at as "at: jiff_sqlx::Timestamp", parked, presence
               from inbox_accept_bound(
                   $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16,
                   $17, $18, $19, $20, $21, $22, $23, $24, $25
               )"#,
            tenants,
            operators,
            bots,
            keys,
            chats,
            unsendable,
            marks.map(|marks| marks.sources.as_slice()) as Option<&[Option<String>]>,
            marks.map(|marks| marks.epochs.as_slice()) as Option<&[Option<i64>]>,
            marks.map(|marks| marks.cursors.as_slice()) as Option<&[Option<String>]>,
            &columns.events,
            &columns.recipient_tenants,
            &columns.agents,
            &columns.versions,
            &columns.bodies,
            &columns.key_ids,
            INBOX_ENTRIES_MAX,
            DEDUPE_DAYS,
            &lent.events,
            &lent.tenants,
            &lent.agents,
            &lent.sessions,
            &lent.kinds,
            &lent.sealed,
            &lent.keys,
            &lent.secs
        )
        .fetch_all(connection)
        .await
    })
}
