//! The gathered ack.

use std::sync::Arc;

use nightdesk_inbox::{AckOutcome, AckRange, AckRequest};
use nightdesk_types::{Seq, StoreError};
use uuid::Uuid;

use super::{ordinal, tenants_of};
use crate::Pg;
use crate::row::{bad_column, moment};

pub(super) async fn store_acks(
    store: &Pg,
    acks: &[AckRequest],
) -> Result<Vec<AckOutcome>, StoreError> {
    let (acks, history) = (acks.to_vec(), Arc::clone(&store.history));
    let count = acks.len();
    let outcomes = run_to_end!(store.single("ack entries"), |connection| {
        let tenants = tenants_of(acks.iter().map(|ack| ack.line.scope));
        let scopes: Vec<Uuid> = acks.iter().map(|ack| ack.line.scope.tenant().uuid()).collect();
        let agents: Vec<Uuid> = acks.iter().map(|ack| ack.line.agent.uuid()).collect();
        let incarnations: Vec<i64> = acks.iter().map(|ack| ack.line.incarnation.get()).collect();
        let generations: Vec<i64> = acks.iter().map(|ack| ack.line.generation.get()).collect();
        let ranges: Vec<(i32, AckRange)> = number_ranges(&acks);
        let of: Vec<i32> = ranges.iter().map(|(ack, _)| *ack).collect();
        let from: Vec<i64> = ranges.iter().map(|(_, range)| range.from.get()).collect();
        let to: Vec<i64> = ranges.iter().map(|(_, range)| range.to.get()).collect();
        let at: Vec<_> = ranges.iter().map(|(_, range)| moment(range.at)).collect();
        let handed: Vec<_> = ranges.iter().map(|(_, range)| moment(range.handed_at)).collect();
        let rows = sqlx::query_as!(
            AckRow,
            "select acked_seq, refusal
             from inbox_ack($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
            &tenants,
            &scopes,
            &agents,
            &incarnations,
            &generations,
            &of,
            &from,
            &to,
            &at as &[jiff_sqlx::Timestamp],
            &handed as &[jiff_sqlx::Timestamp]
        )
        .fetch_all(&mut *connection)
        .await?;
        let outcomes: Vec<AckOutcome> =
            rows.into_iter().map(AckRow::outcome).collect::<sqlx::Result<_>>()?;
        let beyond =
            |(_, outcome): &(&AckRequest, &AckOutcome)| **outcome == AckOutcome::BeyondHead;
        if let Some((ack, _)) = acks.iter().zip(&outcomes).find(beyond) {
            history.end(connection, ack.line.incarnation).await?;
        }
        Ok(outcomes)
    })?;
    if outcomes.len() != count {
        return Err(StoreError::broken("ack entries", bad_column("inbox_ack", "ack")));
    }
    Ok(outcomes)
}

struct AckRow {
    acked_seq: Option<i64>,
    refusal: Option<String>,
}

impl AckRow {
    fn outcome(self) -> sqlx::Result<AckOutcome> {
        match (self.acked_seq, self.refusal.as_deref()) {
            (Some(seq), None) => Ok(AckOutcome::Moved(Seq::new(seq))),
            (None, Some("replaced")) => Ok(AckOutcome::LineReplaced),
            (None, Some("history")) => Ok(AckOutcome::HistoryChanged),
            (None, Some("beyond-head")) => Ok(AckOutcome::BeyondHead),
            _ => Err(bad_column("inbox_ack", "refusal")),
        }
    }
}

fn number_ranges(acks: &[AckRequest]) -> Vec<(i32, AckRange)> {
    let ranges = |(index, ack): (usize, &AckRequest)| {
        ack.ranges.iter().map(move |range| (ordinal(index), *range)).collect::<Vec<_>>()
    };
    acks.iter().enumerate().flat_map(ranges).collect()
}
