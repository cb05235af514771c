//! The gathered accept.

use fail::fail_point;
use nightdesk_inbox::{AcceptRequest, AgentPresence, PutOutcome, SourceCursor, StoredEntry};
use nightdesk_types::limits::{DEDUPE_DAYS, INBOX_ENTRIES_MAX};
use nightdesk_types::{AgentId, Generation, Incarnation, Seq, StoreError, TenantId, TenantScope};
use uuid::Uuid;

use self::capabilities::CapabilityColumns;
use super::{ordinal, tenants_of};
use crate::Pg;
use crate::bodies::{SealedBody, SealingKeys, message_owner};
use crate::row::bad_column;

mod capabilities;

/// Events and recipients as columns, in the form of the statement's parameters.
#[derive(Default)]
struct AcceptColumns {
    tenants: Vec<Uuid>,
    operators: Vec<Uuid>,
    bots: Vec<Uuid>,
    keys: Vec<Vec<u8>>,
    chats: Vec<String>,
    unsendable: Vec<bool>,
    marks: Option<CursorColumns>,
    events: Vec<i32>,
    recipient_tenants: Vec<Uuid>,
    agents: Vec<Uuid>,
    versions: Vec<i64>,
    bodies: Vec<Vec<u8>>,
    key_ids: Vec<i64>,
    body_ids: Vec<Uuid>,
    paces: Vec<String>,
}

/// The cursor of each event's source, for a batch in which at least one source has a cursor.
struct CursorColumns {
    sources: Vec<Option<String>>,
    epochs: Vec<Option<i64>>,
    cursors: Vec<Option<String>>,
}

/// The rows of a function that accepts, by the columns of events and recipients and perhaps further ones.
macro_rules! accept_rows {
    ($columns:ident, $from:literal $(, $further:expr)*) => {{
        let marks = $columns.marks.as_ref();
        sqlx::query_as!(
            AcceptRow,
            r#"select event as "event!", outcome as "outcome!", tenant, agent, seq,
                   at as "at: jiff_sqlx::Timestamp", parked, presence, incarnation, generation"# + $from,
            &$columns.tenants,
            &$columns.operators,
            &$columns.bots,
            &$columns.keys,
            &$columns.chats,
            &$columns.unsendable,
            marks.map(|marks| marks.sources.as_slice()) as Option<&[Option<String>]>,
            marks.map(|marks| marks.epochs.as_slice()) as Option<&[Option<i64>]>,
            marks.map(|marks| marks.cursors.as_slice()) as Option<&[Option<String>]>,
            &$columns.events,
            &$columns.recipient_tenants,
            &$columns.agents,
            &$columns.versions,
            &$columns.bodies,
            &$columns.key_ids,
            &$columns.body_ids,
            &$columns.paces,
            INBOX_ENTRIES_MAX,
            DEDUPE_DAYS
            $(, $further)*
        )
    }};
}

pub(super) async fn accept_events(
    store: &Pg,
    events: &[AcceptRequest],
) -> Result<Vec<PutOutcome>, StoreError> {
    let keys = store.sealing_keys(recipient_tenants(events)).await?;
    let (columns, capabilities) = (accept_columns(events, &keys), CapabilityColumns::new(events));
    let rows = run_to_end!(store.single("put events"), |connection| {
        fail_point!("store_pg::before_accept");
        // Few events have capabilities, so the others use a statement without them.
        let Some(capabilities) = capabilities else {
            return accept_rows!(
                columns,
                " from inbox_accept(
                    $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17,
                    $18, $19
                )"
            )
            .fetch_all(connection)
            .await;
        };
        accept_rows!(
            columns,
            " from inbox_accept_bound(
                $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18,
                $19, $20, $21, $22, $23, $24, $25, $26, $27
            )",
            &capabilities.events,
            &capabilities.tenants,
            &capabilities.agents,
            &capabilities.sessions,
            &capabilities.kinds,
            &capabilities.sealed,
            &capabilities.keys,
            &capabilities.secs
        )
        .fetch_all(connection)
        .await
    });
    // The key that sealed a message may be gone.
    let rows = rows.inspect_err(|_| store.bodies.forget_newest(recipient_tenants(events)))?;
    put_outcomes(events.len(), rows).map_err(|error| StoreError::broken("put events", error))
}

fn recipient_tenants(events: &[AcceptRequest]) -> impl Iterator<Item = TenantId> {
    events.iter().flat_map(AcceptRequest::recipients).map(|recipient| recipient.scope.tenant())
}

fn accept_columns(events: &[AcceptRequest], keys: &SealingKeys) -> AcceptColumns {
    let mut columns = AcceptColumns { marks: cursor_columns(events), ..AcceptColumns::default() };
    let operators = events.iter().map(AcceptRequest::operator);
    let recipients = events.iter().flat_map(AcceptRequest::recipients);
    columns.tenants = tenants_of(operators.chain(recipients.map(|recipient| recipient.scope)));
    for (index, event) in events.iter().enumerate() {
        columns.operators.push(event.operator().tenant().uuid());
        columns.bots.push(event.bot().uuid());
        columns.keys.push(event.key().bytes().to_vec());
        columns.chats.push(event.chat_id().to_owned());
        columns.unsendable.push(event.json().is_none());
        for (recipient, pace) in event.paced_recipients() {
            columns.events.push(ordinal(index));
            columns.recipient_tenants.push(recipient.scope.tenant().uuid());
            columns.agents.push(recipient.agent.uuid());
            columns.versions.push(recipient.version);
            // An event for an erased tenant is stale, and its body is not stored.
            let owner = message_owner(recipient.scope, recipient.agent);
            let sealed = keys.seal(&owner, event.body()).unwrap_or_else(SealedBody::without_key);
            columns.bodies.push(sealed.bytes);
            columns.key_ids.push(sealed.key.get());
            columns.body_ids.push(sealed.id.uuid());
            columns.paces.push(pace.slug().to_owned());
        }
    }
    columns
}

fn cursor_columns(events: &[AcceptRequest]) -> Option<CursorColumns> {
    events.iter().any(|event| event.source_cursor().is_some()).then(|| {
        let mark = |event: &'_ AcceptRequest| event.source_cursor().cloned();
        let marks: Vec<Option<SourceCursor>> = events.iter().map(mark).collect();
        let source = |mark: &Option<SourceCursor>| mark.as_ref().map(|mark| mark.source.clone());
        let epoch = |mark: &Option<SourceCursor>| mark.as_ref().map(|mark| mark.epoch.get());
        let cursor = |mark: &Option<SourceCursor>| mark.as_ref().map(|mark| mark.cursor.clone());
        CursorColumns {
            sources: marks.iter().map(source).collect(),
            epochs: marks.iter().map(epoch).collect(),
            cursors: marks.iter().map(cursor).collect(),
        }
    })
}

/// One row of the result: an event's outcome, once for each of its entries.
struct AcceptRow {
    event: i32,
    outcome: String,
    tenant: Option<Uuid>,
    agent: Option<Uuid>,
    seq: Option<i64>,
    at: Option<jiff_sqlx::Timestamp>,
    parked: Option<bool>,
    presence: Option<String>,
    incarnation: Option<i64>,
    generation: Option<i64>,
}

/// Returns one result for each event. An event without a row is an error.
fn put_outcomes(events: usize, rows: Vec<AcceptRow>) -> sqlx::Result<Vec<PutOutcome>> {
    let mut puts: Vec<Option<PutOutcome>> = (0..events).map(|_| None).collect();
    for row in rows {
        let index = usize::try_from(row.event - 1).ok();
        let put = index.and_then(|index| puts.get_mut(index));
        let put = put.ok_or_else(|| bad_column("inbox_accept", "event"))?;
        match row.outcome.as_str() {
            "stored" => match put.get_or_insert_with(|| PutOutcome::Stored(Vec::new())) {
                PutOutcome::Stored(stored) => stored.push(row.entry()?),
                PutOutcome::Duplicate | PutOutcome::Stale | PutOutcome::Fenced => {
                    return Err(bad_column("inbox_accept", "outcome"));
                }
            },
            "duplicate" => *put = Some(PutOutcome::Duplicate),
            "stale" => *put = Some(PutOutcome::Stale),
            "fenced" => *put = Some(PutOutcome::Fenced),
            _ => return Err(bad_column("inbox_accept", "outcome")),
        }
    }
    puts.into_iter().map(|put| put.ok_or_else(|| bad_column("inbox_accept", "outcome"))).collect()
}

impl AcceptRow {
    fn entry(self) -> sqlx::Result<StoredEntry> {
        let presence = self.presence()?;
        let entry = || {
            Some(StoredEntry {
                scope: TenantScope::for_tenant(TenantId::from_uuid(self.tenant?)),
                agent: AgentId::from_uuid(self.agent?),
                seq: Seq::new(self.seq?),
                at: self.at?.to_jiff(),
                parked: self.parked?,
                presence,
                incarnation: Incarnation::new(self.incarnation?),
                generation: Generation::new(self.generation?),
            })
        };
        entry().ok_or_else(|| bad_column("inbox_accept", "seq"))
    }

    fn presence(&self) -> sqlx::Result<AgentPresence> {
        match self.presence.as_deref() {
            None => Ok(AgentPresence::Awake),
            Some("asleep") => Ok(AgentPresence::Asleep),
            Some("held") => Ok(AgentPresence::Held),
            Some(_) => Err(bad_column("inbox_accept", "presence")),
        }
    }
}
