//! The gathered ack.

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
    let acks = acks.to_vec();
    let count = acks.len();
    let rows = run_to_end!(store.single("ack entries"), |connection| {
        let tenants = tenants_of(acks.iter().map(|ack| ack.line.scope));
        let scopes: Vec<Uuid> = acks.iter().map(|ack| ack.line.scope.tenant().uuid()).collect();
        let agents: Vec<Uuid> = acks.iter().map(|ack| ack.line.agent.uuid()).collect();
        let generations: Vec<i64> = acks.iter().map(|ack| ack.line.generation.get()).collect();
        let ranges: Vec<(i32, AckRange)> = number_ranges(&acks);
        let of: Vec<i32> = ranges.iter().map(|(ack, _)| *ack).collect();
        let from: Vec<i64> = ranges.iter().map(|(_, range)| range.from.get()).collect();
        let to: Vec<i64> = ranges.iter().map(|(_, range)| range.to.get()).collect();
        let at: Vec<_> = ranges.iter().map(|(_, range)| moment(range.at)).collect();
        let handed: Vec<_> = ranges.iter().map(|(_, range)| moment(range.handed_at)).collect();
        sqlx::query!(
            r#"select ack as "ack!", acked_seq
               from inbox_ack($1, $2, $3, $4, $5, $6, $7, $8, $9)"#,
            &tenants,
            &scopes,
            &agents,
            &generations,
            &of,
            &from,
            &to,
            &at as &[jiff_sqlx::Timestamp],
            &handed as &[jiff_sqlx::Timestamp]
        )
        .fetch_all(connection)
        .await
    })?;
    if rows.len() != count {
        return Err(StoreError::broken("ack entries", bad_column("inbox_ack", "ack")));
    }
    let ack = |seq: Option<i64>| {
        seq.map_or(AckOutcome::LineReplaced, |seq| AckOutcome::Moved(Seq::new(seq)))
    };
    Ok(rows.into_iter().map(|row| ack(row.acked_seq)).collect())
}

fn number_ranges(acks: &[AckRequest]) -> Vec<(i32, AckRange)> {
    let ranges = |(index, ack): (usize, &AckRequest)| {
        ack.ranges.iter().map(move |range| (ordinal(index), *range)).collect::<Vec<_>>()
    };
    acks.iter().enumerate().flat_map(ranges).collect()
}
