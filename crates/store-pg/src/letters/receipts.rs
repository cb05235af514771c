//! Receipts of letters.

use std::collections::BTreeMap;

use nightdesk_letters::Receipt;
use serde_json::Value;
use sqlx::PgConnection;
use uuid::Uuid;

use crate::inbox::tenants_of;

/// Receipts as columns for the statement.
#[derive(Default)]
struct ReceiptColumns {
    tenants: Vec<Uuid>,
    dispatches: Vec<String>,
    connectors: Vec<String>,
    addresses: Vec<String>,
    routes: Vec<String>,
    outcomes: Vec<Value>,
}

pub(super) async fn write(connection: &mut PgConnection, receipts: &[Receipt]) -> sqlx::Result<()> {
    let columns = columns(receipts)?;
    sqlx::query!(
        "select letter_note($1, $2, $3, $4, $5, $6, $7)",
        &tenants_of(receipts.iter().map(|one| one.scope)),
        &columns.tenants,
        &columns.dispatches,
        &columns.connectors,
        &columns.addresses,
        &columns.routes,
        &columns.outcomes
    )
    .execute(connection)
    .await?;
    Ok(())
}

fn columns(receipts: &[Receipt]) -> sqlx::Result<ReceiptColumns> {
    let mut columns = ReceiptColumns::default();
    for Receipt { scope, record } in newest_receipts(receipts) {
        let came = serde_json::to_value(&record.outcome);
        columns.outcomes.push(came.map_err(|error| sqlx::Error::Encode(error.into()))?);
        columns.tenants.push(scope.tenant().uuid());
        columns.dispatches.push(record.dispatch_id.clone());
        columns.connectors.push(record.connector.clone());
        columns.addresses.push(record.address.clone());
        columns.routes.push(record.route.slug().to_owned());
    }
    Ok(columns)
}

/// Returns the last receipt of each key: one statement cannot replace a row twice.
fn newest_receipts(receipts: &[Receipt]) -> impl Iterator<Item = &Receipt> {
    let key = |Receipt { scope, record }: &'_ Receipt| {
        let names = [&record.dispatch_id, &record.connector, &record.address];
        (scope.tenant().uuid(), names.map(String::clone))
    };
    let by_key: BTreeMap<_, _> = receipts.iter().map(|one| (key(one), one)).collect();
    by_key.into_values()
}
