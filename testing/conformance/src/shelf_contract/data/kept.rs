//! Entries are stored exactly as written.

use nightdesk_shelf::{DataStore, DataWrite, PortableData};
use nightdesk_types::limits::{DATA_BYTES_MAX, DATA_SUMMARY_CHARS_MAX};
use serde_json::{Map, Value, json};

use super::{words, write};
use crate::shelf_contract::{DataHarness, Failed, Outcome, must, same};

/// A time after any test run.
const LATER: i64 = 32_503_680_000;

async fn read(store: &dyn DataStore, write: &DataWrite) -> Result<PortableData, Failed> {
    let record = store.write(write).await?;
    store.get(&record.id).await?.ok_or_else(|| Failed::because("what was written is not there"))
}

fn noted(value: &Value) -> Option<Map<String, Value>> {
    value.as_object().cloned()
}

pub(super) async fn what_was_written_is_read<H: DataHarness>(harness: &H) -> Outcome {
    let store = harness.fresh().await;
    let full = DataWrite {
        content: "first\nsecond ä 🙂".to_owned(),
        tags: Some(vec!["a".to_owned(), "b".to_owned()]),
        recipients: Some(vec!["perry".to_owned()]),
        expires_at: Some(Some(LATER)),
        metadata: noted(&json!({ "mine": { "deep": [1, "x", null] } })),
    };
    let record = store.write(&full).await?;
    let Some(entry) = store.get(&record.id).await? else {
        return Err(Failed::because("what was written is not there"));
    };
    same!(entry.id, record.id, "the id");
    same!(entry.summary, "first", "the summary");
    same!(entry.detail.as_deref(), Some(full.content.as_str()), "the content");
    same!(entry.domain_tags, full.tags, "the tags");
    same!(entry.recipients, full.recipients, "the recipients");
    same!(entry.metadata, full.metadata, "what is noted");
    same!(entry.created_at, Some(record.created_at), "the time");
    must!(record.created_at > 0 && record.created_at < LATER, "the time is not in seconds");
    let found = store.query(&words("second")).await?;
    same!(found.len(), 1, "how many were found");
    same!(PortableData { score: None, ..found[0].clone() }, entry, "what was found");
    Ok(())
}

pub(super) async fn what_is_missing_is_none<H: DataHarness>(harness: &H) -> Outcome {
    let store = harness.fresh().await;
    for id in ["missing", "", "0123456789abcdef0123456789abcdef", "a\0b", "../x"] {
        same!(store.get(id).await?, None, "what is missing");
    }
    Ok(())
}

pub(super) async fn an_expiry_is_kept<H: DataHarness>(harness: &H) -> Outcome {
    let store = harness.fresh().await;
    let until = DataWrite { expires_at: Some(Some(LATER)), ..write("c") };
    same!(read(&store, &until).await?.expires_at, Some(Some(LATER)), "until when");
    Ok(())
}

pub(super) async fn no_end_is_told_from_nothing_said<H: DataHarness>(harness: &H) -> Outcome {
    let store = harness.fresh().await;
    let for_good = DataWrite { expires_at: Some(None), ..write("c") };
    let for_good = serde_json::to_value(read(&store, &for_good).await?)?;
    same!(for_good.get("expires_at"), Some(&Value::Null), "no end");
    let unsaid = serde_json::to_value(read(&store, &write("c")).await?)?;
    same!(unsaid.get("expires_at"), None, "nothing said");
    Ok(())
}

pub(super) async fn what_expired_is_not_shown<H: DataHarness>(harness: &H) -> Outcome {
    let store = harness.fresh().await;
    let over = store.write(&DataWrite { expires_at: Some(Some(1)), ..write("kettle") }).await?;
    same!(store.get(&over.id).await?, None, "what expired");
    same!(store.query(&words("kettle")).await?, [], "what expired");
    Ok(())
}

pub(super) async fn a_field_has_one_place<H: DataHarness>(harness: &H) -> Outcome {
    let store = harness.fresh().await;
    let metadata = noted(&json!({ "pinned": true, "vault": "v", "confidence": 0.5, "mine": 1 }));
    let recipients = Some(vec!["perry".to_owned()]);
    let expires_at = Some(Some(LATER));
    let entry = read(&store, &DataWrite { recipients, expires_at, metadata, ..write("c") }).await?;
    same!((entry.pinned, entry.vault.as_deref()), (Some(true), Some("v")), "its fields");
    same!(entry.confidence, Some(0.5), "its confidence");
    same!(entry.metadata, noted(&json!({ "mine": 1 })), "what else is noted");
    Ok(())
}

pub(super) async fn the_first_line_is_the_summary<H: DataHarness>(harness: &H) -> Outcome {
    let store = harness.fresh().await;
    let long = "x".repeat(DATA_SUMMARY_CHARS_MAX + 1);
    let entry = read(&store, &write(&long)).await?;
    same!(entry.summary.chars().count(), DATA_SUMMARY_CHARS_MAX, "the length");
    must!(entry.summary.ends_with("x..."), "{:?}", entry.summary);
    same!(entry.detail, Some(long), "the content");
    Ok(())
}

pub(super) async fn the_same_again_is_the_same_entry<H: DataHarness>(harness: &H) -> Outcome {
    let store = harness.fresh().await;
    let first = store.write(&write("kettle")).await?;
    same!(store.write(&write("kettle")).await?, first, "the answer");
    same!(store.query(&words("kettle")).await?.len(), 1, "how many there are");
    let other = store.write(&write("kettle two")).await?;
    must!(other.id != first.id, "another entry has the same id");
    Ok(())
}

pub(super) async fn what_is_not_set_is_left_out<H: DataHarness>(harness: &H) -> Outcome {
    let store = harness.fresh().await;
    let entry = serde_json::to_value(read(&store, &write("c")).await?)?;
    let nulls = entry.as_object().map_or(0, |o| o.values().filter(|v| v.is_null()).count());
    same!(nulls, 0, "nulls");
    for key in ["metadata", "recipients", "domain_tags", "pinned", "score"] {
        same!(entry.get(key), None, "what was not said");
    }
    Ok(())
}

pub(super) async fn an_entry_has_a_bound<H: DataHarness>(harness: &H) -> Outcome {
    let store = harness.fresh().await;
    let fits = "xy ".repeat(DATA_BYTES_MAX / 3) + "x";
    same!(read(&store, &write(&fits)).await?.detail, Some(fits.clone()), "the largest");
    must!(store.write(&write(&(fits + "xx"))).await.is_err(), "one too large was taken");
    must!(store.write(&write("")).await.is_err(), "nothing at all was taken");
    Ok(())
}
