//! The gathered read.

use std::sync::Arc;

use nightdesk_inbox::{Entry, ParkReason, ReadRequest, ReadResponse};
use nightdesk_protocol::EntryJson;
use nightdesk_types::limits::WINDOW_BYTES_MAX;
use nightdesk_types::{BotId, DataKeyId, Incarnation, Seq, StoreError};
use nightdesk_vault::{BodyOwner, OpenError};
use uuid::Uuid;

use super::tenants_of;
use crate::Pg;
use crate::bodies::{OpeningKeys, SealedBody, message_owner};
use crate::row::{bad_column, moment};

pub(super) async fn read_waiting(
    store: &Pg,
    asks: &[ReadRequest],
) -> Result<Vec<ReadResponse>, StoreError> {
    let owners: Vec<BodyOwner> =
        asks.iter().map(|ask| message_owner(ask.line.scope, ask.line.agent)).collect();
    let asks = asks.to_vec();
    let rows = run_to_end!(store.single("read waiting entries"), |connection| {
        let tenants = tenants_of(asks.iter().map(|ask| ask.line.scope));
        let scopes: Vec<Uuid> = asks.iter().map(|ask| ask.line.scope.tenant().uuid()).collect();
        let agents: Vec<Uuid> = asks.iter().map(|ask| ask.line.agent.uuid()).collect();
        let incarnations: Vec<i64> = asks.iter().map(|ask| ask.line.incarnation.get()).collect();
        let generations: Vec<i64> = asks.iter().map(|ask| ask.line.generation.get()).collect();
        let after: Vec<i64> = asks.iter().map(|ask| ask.after.get()).collect();
        let since: Vec<_> = asks.iter().map(|ask| moment(ask.since)).collect();
        let most: Vec<i32> =
            asks.iter().map(|ask| i32::try_from(ask.entries_max).unwrap_or(i32::MAX)).collect();
        sqlx::query_as!(
            WaitingEntryRow,
            r#"select ask as "ask!", refusal, seq, at as "at: jiff_sqlx::Timestamp", bot, chat,
                   body, key_id, body_id, incarnation
               from inbox_waiting($1, $2, $3, $4, $5, $6, $7, $8, $9)"#,
            &tenants,
            &scopes,
            &agents,
            &incarnations,
            &generations,
            &after,
            &since as &[jiff_sqlx::Timestamp],
            &most,
            i64::try_from(WINDOW_BYTES_MAX).unwrap_or(i64::MAX)
        )
        .fetch_all(connection)
        .await
    })?;
    let sealed = rows
        .iter()
        .filter_map(|row| Some((owner_of(&owners, row).ok()?.tenant, DataKeyId::new(row.key_id?))));
    let keys = store.opening_keys(sealed).await?;
    group_responses(&owners, rows, &keys)
        .map_err(|error| StoreError::broken("read waiting entries", error))
}

/// Returns the owner of the entries that a row's request reads.
fn owner_of<'a>(owners: &'a [BodyOwner], row: &WaitingEntryRow) -> sqlx::Result<&'a BodyOwner> {
    let index = usize::try_from(row.ask - 1).ok();
    index.and_then(|index| owners.get(index)).ok_or_else(|| bad_column("inbox_waiting", "ask"))
}

/// One row of the result: an entry, or a row without one if none waits.
struct WaitingEntryRow {
    ask: i32,
    refusal: Option<String>,
    seq: Option<i64>,
    at: Option<jiff_sqlx::Timestamp>,
    bot: Option<Uuid>,
    chat: Option<String>,
    body: Option<Vec<u8>>,
    key_id: Option<i64>,
    body_id: Option<Uuid>,
    incarnation: Option<i64>,
}

fn group_responses(
    owners: &[BodyOwner],
    rows: Vec<WaitingEntryRow>,
    keys: &OpeningKeys,
) -> sqlx::Result<Vec<ReadResponse>> {
    let mut answers: Vec<Option<ReadResponse>> = owners.iter().map(|_| None).collect();
    for row in rows {
        let owner = owner_of(owners, &row)?;
        let index = usize::try_from(row.ask - 1).ok();
        let answer = index.and_then(|index| answers.get_mut(index));
        let answer = answer.ok_or_else(|| bad_column("inbox_waiting", "ask"))?;
        match row.refusal.as_deref() {
            None => {}
            Some("replaced") => *answer = Some(ReadResponse::LineReplaced),
            Some("history") => *answer = Some(ReadResponse::HistoryChanged),
            Some(_) => return Err(bad_column("inbox_waiting", "refusal")),
        }
        if let ReadResponse::Entries(entries) =
            answer.get_or_insert_with(|| ReadResponse::Entries(Vec::new()))
        {
            entries.extend(row.entry(owner, keys));
        }
    }
    answers
        .into_iter()
        .map(|answer| answer.ok_or_else(|| bad_column("inbox_waiting", "ask")))
        .collect()
}

impl WaitingEntryRow {
    fn entry(self, owner: &BodyOwner, keys: &OpeningKeys) -> Option<Entry> {
        let sealed = SealedBody::from_row(self.key_id?, self.body_id?, self.body?);
        Some(Entry {
            seq: Seq::new(self.seq?),
            incarnation: Incarnation::new(self.incarnation?),
            at: self.at?.to_jiff(),
            bot: BotId::from_uuid(self.bot?),
            chat_id: self.chat?,
            json: entry_json(keys.open(owner, sealed)),
        })
    }
}

/// Returns the wire form of an opened body, or the reason for which the entry is parked.
fn entry_json(opened: Result<Vec<u8>, OpenError>) -> Result<Arc<EntryJson>, ParkReason> {
    let body = opened.map_err(|_| ParkReason::Unreadable)?;
    EntryJson::from_stored(body).map(Arc::new).map_err(|_| ParkReason::Unsendable)
}
