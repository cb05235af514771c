//! Validates entries and queries of data, and matches them. Every store uses this, so that all give the same results.

use nightdesk_types::limits::{
    AUTHOR_BYTES_MAX, DATA_BYTES_MAX, DATA_QUERY_DEFAULT, DATA_QUERY_MAX, DATA_SUMMARY_CHARS_MAX,
    DATA_TAG_BYTES_MAX, DATA_TAGS_MAX, METADATA_BYTES_MAX, SHELF_QUERY_BYTES_MAX,
};
use serde_json::{Map, Value, json};

use crate::data::{DataWrite, Expiry, PortableData, QueryFilters};
use crate::error::DataStoreError;
use crate::hash::token_of;
use crate::metadata::{bytes_of, has_zero};
use crate::skill::OneOrMany;

/// The only search mode: all words must occur.
pub const READ_BY_WORDS: &str = "fts";

/// All supported filters.
pub const CURATED_FILTERS: [&str; 7] = [
    "agent_id",
    "domain_tags",
    "knowledge_type",
    "payload_type",
    "pinned",
    "thread_status",
    "vault",
];

/// Metadata keys that become fields, with the type of their value.
const CURATED: [(&str, TypeCheck); 6] = [
    ("thread_status", Value::is_string),
    ("pinned", Value::is_boolean),
    ("confidence", Value::is_number),
    ("payload_type", Value::is_string),
    ("knowledge_type", Value::is_string),
    ("vault", Value::is_string),
];

/// Checks the type of a value.
type TypeCheck = fn(&Value) -> bool;

/// Fields that are set otherwise, or by the store.
const SAID_ELSEWHERE: [&str; 9] = [
    "id",
    "summary",
    "detail",
    "score",
    "domain_tags",
    "recipients",
    "expires_at",
    "created_at",
    "agent_id",
];

/// A validated entry.
#[derive(Clone, Debug, PartialEq)]
pub struct NewData {
    /// The id. The same entry by the same writer has the same id.
    pub id: String,
    /// The content.
    pub content: String,
    /// The tags.
    pub tags: Option<Vec<String>>,
    /// The recipients.
    pub recipients: Option<Vec<String>>,
    /// The expiry time.
    pub expires_at: Option<Expiry>,
    /// The fields, including the writer.
    pub fields: Map<String, Value>,
    /// Further metadata.
    pub metadata: Option<Map<String, Value>>,
}

impl NewData {
    /// Validates an entry.
    pub fn validate(write: &DataWrite, writer: Option<&str>) -> Result<Self, DataStoreError> {
        check(write)?;
        let mut metadata = write.metadata.clone().unwrap_or_default();
        let mut fields = take_fields(&mut metadata)?;
        if let Some(writer) = writer {
            fields.insert("agent_id".to_owned(), writer.into());
        }
        Ok(Self {
            id: token_of(&json!([writer, write]).to_string()),
            content: write.content.clone(),
            tags: write.tags.clone(),
            recipients: write.recipients.clone(),
            expires_at: write.expires_at,
            fields,
            metadata: (!metadata.is_empty()).then_some(metadata),
        })
    }

    /// Returns the size in bytes.
    pub fn bytes(&self) -> usize {
        let noted = self.metadata.as_ref().map_or(0, bytes_of);
        let lists = [&self.tags, &self.recipients].into_iter().flatten().flatten();
        self.content.len() + noted + bytes_of(&self.fields) + lists.map(String::len).sum::<usize>()
    }

    /// Returns true if the entry has expired at this time.
    pub fn has_expired(&self, now: i64) -> bool {
        self.expires_at.flatten().is_some_and(|until| until <= now)
    }

    /// Returns the entry in the contract's type.
    pub fn portable(&self, created_at: i64, score: Option<f64>) -> PortableData {
        let text = |key: &str| self.fields.get(key).and_then(Value::as_str).map(ToOwned::to_owned);
        PortableData {
            id: self.id.clone(),
            summary: summary(&self.content),
            detail: Some(self.content.clone()),
            score,
            thread_status: text("thread_status"),
            pinned: self.fields.get("pinned").and_then(Value::as_bool),
            confidence: self.fields.get("confidence").and_then(Value::as_f64),
            domain_tags: self.tags.clone(),
            payload_type: text("payload_type"),
            knowledge_type: text("knowledge_type"),
            recipients: self.recipients.clone(),
            expires_at: self.expires_at,
            created_at: Some(created_at),
            agent_id: text("agent_id"),
            vault: text("vault"),
            metadata: self.metadata.clone(),
        }
    }
}

/// A validated query.
#[derive(Clone, Debug, PartialEq)]
pub struct DataQuery {
    /// The search words. Without words the newest entries match.
    pub words: String,
    /// Maximum number of results.
    pub limit: usize,
    /// Any of these tags; `None` matches all.
    pub tags: Option<Vec<String>>,
    /// Exact values of fields.
    pub fields: Map<String, Value>,
}

impl DataQuery {
    /// Validates a query. An unsupported filter is an error, unless the caller allows permissive filters.
    pub fn validate(filters: &QueryFilters, substrate: &str) -> Result<Self, DataStoreError> {
        let is_kept = |key: &&String| CURATED_FILTERS.contains(&key.as_str());
        let unsupported: Vec<_> =
            filters.filters.keys().filter(|key| !is_kept(key)).cloned().collect();
        if !unsupported.is_empty() && !filters.permissive_filters {
            let supported = CURATED_FILTERS.map(ToOwned::to_owned).to_vec();
            let substrate = substrate.to_owned();
            return Err(DataStoreError::UnsupportedFilter { unsupported, supported, substrate });
        }
        if let Some(mode) = filters.mode.as_deref().filter(|mode| *mode != READ_BY_WORDS) {
            let mode: String = mode.chars().take(DATA_TAG_BYTES_MAX).collect();
            return Err(DataStoreError::query(format!(
                "mode {mode:?} is not supported; use `fts`"
            )));
        }
        if filters.query.len() > SHELF_QUERY_BYTES_MAX || filters.query.contains('\0') {
            let reason =
                format!("a query has at most {SHELF_QUERY_BYTES_MAX} bytes, none of them zero");
            return Err(DataStoreError::query(reason));
        }
        let mut fields: Map<_, _> = filters.filters.clone();
        fields.retain(|key, _| is_kept(&key));
        let tags = fields.remove("domain_tags").map(tags_in).transpose()?;
        check_plain(&fields)?;
        let limit = filters.limit.unwrap_or(DATA_QUERY_DEFAULT).min(DATA_QUERY_MAX);
        Ok(Self { words: filters.query.clone(), limit, tags, fields })
    }

    /// Returns true if an entry has the requested tags and fields.
    pub fn is_met_by(&self, entry: &NewData) -> bool {
        let filed = entry.tags.as_deref().unwrap_or_default();
        self.tags.as_ref().is_none_or(|any| any.iter().any(|tag| filed.contains(tag)))
            && self.fields.iter().all(|(key, value)| entry.fields.get(key) == Some(value))
    }
}

/// Returns the first line, shortened if it is too long.
fn summary(content: &str) -> String {
    let line = content.lines().next().unwrap_or_default();
    if line.chars().count() <= DATA_SUMMARY_CHARS_MAX {
        return line.to_owned();
    }
    let fits = DATA_SUMMARY_CHARS_MAX - ELLIPSIS.len();
    line.chars().take(fits).chain(ELLIPSIS.chars()).collect()
}

const ELLIPSIS: &str = "...";

fn check(write: &DataWrite) -> Result<(), DataStoreError> {
    let refused = |reason: String| Err(DataStoreError::Query { reason });
    if write.content.trim().is_empty() || write.content.len() > DATA_BYTES_MAX {
        return refused(format!("an entry has content of 1 to {DATA_BYTES_MAX} bytes"));
    }
    let noted = write.metadata.as_ref().map_or(0, bytes_of);
    if noted > METADATA_BYTES_MAX {
        return refused(format!("the metadata has more than {METADATA_BYTES_MAX} bytes"));
    }
    for list in [&write.tags, &write.recipients].into_iter().flatten() {
        let fits = |text: &String| text.len() <= DATA_TAG_BYTES_MAX && !text.contains('\0');
        if list.len() > DATA_TAGS_MAX || !list.iter().all(fits) {
            return refused(format!(
                "an entry has at most {DATA_TAGS_MAX} tags and recipients, of {DATA_TAG_BYTES_MAX} bytes each"
            ));
        }
    }
    if write.content.contains('\0') || write.metadata.as_ref().is_some_and(has_zero) {
        return refused("an entry must not contain zero bytes".to_owned());
    }
    Ok(())
}

/// Moves the fields out of the metadata.
fn take_fields(metadata: &mut Map<String, Value>) -> Result<Map<String, Value>, DataStoreError> {
    if let Some(key) = SAID_ELSEWHERE.iter().find(|key| metadata.contains_key(**key)) {
        return Err(DataStoreError::query(format!("`{key}` must not be in the metadata")));
    }
    let mut fields = Map::new();
    for (key, is_so) in CURATED {
        let Some(value) = metadata.remove(key) else {
            continue;
        };
        if !is_so(&value) {
            return Err(DataStoreError::query(format!("`{key}` has the wrong type")));
        }
        fields.insert(key.to_owned(), value);
    }
    Ok(fields)
}

fn tags_in(value: Value) -> Result<Vec<String>, DataStoreError> {
    let tags: OneOrMany<String> = serde_json::from_value(value)
        .map_err(|_| DataStoreError::query("`domain_tags` must be a tag or a list of tags"))?;
    let tags = tags.as_slice().to_vec();
    if tags.len() > DATA_TAGS_MAX || tags.iter().any(|tag| tag.contains('\0')) {
        return Err(DataStoreError::query(format!(
            "`domain_tags` has at most {DATA_TAGS_MAX} tags"
        )));
    }
    Ok(tags)
}

/// Rejects filter values that no field can equal.
fn check_plain(fields: &Map<String, Value>) -> Result<(), DataStoreError> {
    for (key, value) in fields {
        let fits = match value {
            Value::Bool(_) => key == "pinned",
            Value::String(text) => {
                key != "pinned" && text.len() <= AUTHOR_BYTES_MAX && !text.contains('\0')
            }
            Value::Null | Value::Number(_) | Value::Array(_) | Value::Object(_) => false,
        };
        if !fits {
            return Err(DataStoreError::query(format!(
                "`{key}` has the wrong type, or is too long"
            )));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
