//! Data, in the words of the contract. Times are seconds.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

/// Until when something is wanted: `None` for good, which is not the same as nothing being said.
pub type Expiry = Option<i64>;

/// An entry of data.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PortableData {
    /// Its id.
    pub id: String,
    /// Its first line, or what fits of it.
    pub summary: String,
    /// All of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// How well it answers a query.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// The state of the thread it is of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_status: Option<String>,
    /// Whether it is always to be at hand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pinned: Option<bool>,
    /// How sure its writer is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// What it is filed under.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub domain_tags: Option<Vec<String>>,
    /// What is in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payload_type: Option<String>,
    /// What sort of knowledge it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub knowledge_type: Option<String>,
    /// Whom it is meant for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recipients: Option<Vec<String>>,
    /// Until when it is wanted.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "said")]
    pub expires_at: Option<Expiry>,
    /// When it was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_at: Option<i64>,
    /// Who wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// Where it is kept apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vault: Option<String>,
    /// What else its writer noted; nothing of the above.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Map<String, Value>>,
}

/// What data is asked for. Open: what a store does not keep it refuses.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct QueryFilters {
    /// The words to look for. None: the newest.
    #[serde(default)]
    pub query: String,
    /// At most so many.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
    /// How to look: `fts` unless it is said otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// Whether filters that the store does not keep are to be let go. Only `true` itself says so.
    #[serde(default, skip_serializing_if = "is_not_set", deserialize_with = "really")]
    pub permissive_filters: bool,
    /// What else it must be.
    #[serde(flatten)]
    pub filters: Map<String, Value>,
}

/// Data to write.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DataWrite {
    /// What it says.
    pub content: String,
    /// What it is filed under.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tags: Option<Vec<String>>,
    /// Whom it is meant for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recipients: Option<Vec<String>>,
    /// Until when it is wanted.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "said")]
    pub expires_at: Option<Expiry>,
    /// What else to note.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Map<String, Value>>,
}

/// What was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataWriteRecord {
    /// Its id.
    pub id: String,
    /// When it was written.
    pub created_at: i64,
}

/// What was said, also if that is null.
fn said<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Expiry>, D::Error> {
    Expiry::deserialize(deserializer).map(Some)
}

/// Whether it is `true`, and not something that only looks so.
fn really<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
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
