//! The contract's types of data. Times are in seconds.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

/// The expiry time. `None` means never, which differs from an absent value.
pub type Expiry = Option<i64>;

/// An entry of data.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PortableData {
    /// The id.
    pub id: String,
    /// The first line, shortened if it is too long.
    pub summary: String,
    /// The whole content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// The relevance for a query.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// The status of the entry's thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_status: Option<String>,
    /// True if the entry is pinned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pinned: Option<bool>,
    /// The writer's confidence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// The tags.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub domain_tags: Option<Vec<String>>,
    /// The type of the content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payload_type: Option<String>,
    /// The type of knowledge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub knowledge_type: Option<String>,
    /// The recipients.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recipients: Option<Vec<String>>,
    /// The expiry time.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "read_present")]
    pub expires_at: Option<Expiry>,
    /// The time of the write.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_at: Option<i64>,
    /// The writer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// The partition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vault: Option<String>,
    /// Further metadata of the writer, without the fields above.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Map<String, Value>>,
}

/// A query. A store rejects extra filters that it does not support.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct QueryFilters {
    /// The search words. Without words the newest entries match.
    #[serde(default)]
    pub query: String,
    /// Maximum number of results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
    /// The search mode; the default is `fts`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// True if unsupported filters are to be ignored. Only the JSON value `true` counts.
    #[serde(default, skip_serializing_if = "is_not_set", deserialize_with = "strict_true")]
    pub permissive_filters: bool,
    /// Further filters.
    #[serde(flatten)]
    pub filters: Map<String, Value>,
}

/// An entry to write.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DataWrite {
    /// The content.
    pub content: String,
    /// The tags.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tags: Option<Vec<String>>,
    /// The recipients.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recipients: Option<Vec<String>>,
    /// The expiry time.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "read_present")]
    pub expires_at: Option<Expiry>,
    /// Further metadata.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Map<String, Value>>,
}

/// The result of a write.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataWriteRecord {
    /// The id.
    pub id: String,
    /// The time of the write.
    pub created_at: i64,
}

/// Parses a value that is present, even if it is null.
fn read_present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Expiry>, D::Error> {
    Expiry::deserialize(deserializer).map(Some)
}

/// Returns true only for the JSON value `true`.
fn strict_true<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    Value::deserialize(deserializer).map(|value| value == Value::Bool(true))
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands it over so")]
const fn is_not_set(set: &bool) -> bool {
    !*set
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_end_is_told_from_nothing_said() {
        let read = |text| serde_json::from_str::<DataWrite>(text).unwrap().expires_at;

        assert_eq!(read(r#"{"content":"c"}"#), None);
        assert_eq!(read(r#"{"content":"c","expires_at":null}"#), Some(None));
        assert_eq!(read(r#"{"content":"c","expires_at":7}"#), Some(Some(7)));
    }

    #[test]
    fn only_true_itself_lets_filters_go() {
        for (text, want) in [("true", true), (r#""true""#, false), ("1", false), ("null", false)] {
            let filters = format!(r#"{{"query":"q","permissive_filters":{text},"odd":1}}"#);
            let filters: QueryFilters = serde_json::from_str(&filters).unwrap();

            assert_eq!(filters.permissive_filters, want, "{text}");
            assert_eq!(filters.filters.keys().collect::<Vec<_>>(), ["odd"]);
        }
    }

    #[test]
    fn what_is_not_set_is_not_written() {
        let entry = PortableData { id: "i".into(), summary: "s".into(), ..<_>::default() };

        assert_eq!(serde_json::to_string(&entry).unwrap(), r#"{"id":"i","summary":"s"}"#);
        let for_good = PortableData { expires_at: Some(None), ..entry };
        assert!(serde_json::to_string(&for_good).unwrap().contains(r#""expires_at":null"#));
    }
}
