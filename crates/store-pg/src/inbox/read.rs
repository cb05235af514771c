//! The gathered read.

use std::sync::Arc;

use nightdesk_inbox::{Entry, ReadRequest, ReadResponse};
use nightdesk_protocol::EntryJson;
use nightdesk_types::limits::WINDOW_BYTES_MAX;
use nightdesk_types::{BotId, Incarnation, Seq, StoreError};
use uuid::Uuid;

use super::tenants_of;
use crate::Pg;
use crate::row::{bad_column, moment};

pub(super) async fn read_waiting(
    store: &Pg,
    asks: &[ReadRequest],
) -> Result<Vec<ReadResponse>, StoreError> {
    let asks = asks.to_vec();
    let count = asks.len();
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
                   body, incarnation
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
    group_responses(count, rows).map_err(|error| StoreError::broken("read waiting entries", error))
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
    incarnation: Option<i64>,
}

fn group_responses(asks: usize, rows: Vec<WaitingEntryRow>) -> sqlx::Result<Vec<ReadResponse>> {
    let mut answers: Vec<Option<ReadResponse>> = (0..asks).map(|_| None).collect();
    for row in rows {
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
            entries.extend(row.entry());
        }
    }
    answers
        .into_iter()
        .map(|answer| answer.ok_or_else(|| bad_column("inbox_waiting", "ask")))
        .collect()
}

impl WaitingEntryRow {
    fn entry(self) -> Option<Entry> {
        Some(Entry {
            seq: Seq::new(self.seq?),
            incarnation: Incarnation::new(self.incarnation?),
            at: self.at?.to_jiff(),
            bot: BotId::from_uuid(self.bot?),
            chat_id: self.chat?,
            json: EntryJson::from_stored(self.body?).ok().map(Arc::new),
        })
    }
}
