//! Descriptions of stores: static capabilities, and the manifest of an instance.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Version of the contract that these stores implement.
pub(crate) const CONTRACT_VERSION: &str = "1.0.0";

/// The kind of contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConnectorType {
    /// A store of skills.
    SkillStore,
    /// A store of data.
    DataStore,
}

impl ConnectorType {
    /// Returns the name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::SkillStore => "skill_store",
            Self::DataStore => "data_store",
        }
    }
}

/// Static properties of an implementation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoreCapabilities<F> {
    /// The kind of contract.
    pub connector_type: ConnectorType,
    /// Name of the implementation.
    pub implementation: String,
    /// Version of the contract.
    pub contract_version: String,
    /// The features.
    pub features: F,
}

/// Features of a store of skills.
#[expect(clippy::struct_excessive_bools, reason = "the contract has a word for each")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkillFeatures {
    /// Skills can be written.
    pub supports_writes: bool,
    /// Earlier versions of a skill can be read.
    pub supports_versioning: bool,
    /// The filter by tags is supported.
    pub supports_tag_filter: bool,
    /// Changes are recorded with their author.
    pub supports_audit_trail: bool,
    /// A change of status is atomic.
    pub supports_atomic_status_transitions: bool,
}

impl SkillFeatures {
    /// All features.
    pub const ALL: Self = Self {
        supports_writes: true,
        supports_versioning: true,
        supports_tag_filter: true,
        supports_audit_trail: true,
        supports_atomic_status_transitions: true,
    };
}

/// Features of a store of data.
#[expect(clippy::struct_excessive_bools, reason = "the contract has a word for each")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataFeatures {
    /// Entries can be written.
    pub supports_writes: bool,
    /// The filter by tags is supported.
    pub supports_tag_filter: bool,
    /// Semantic search is supported.
    pub supports_semantic: bool,
    /// Results are reranked.
    pub supports_rerank: bool,
    /// The filter by a thread's status is supported.
    pub supports_thread_status_filter: bool,
    /// Pinned entries are supported.
    pub supports_pinning: bool,
    /// Entries decay over time.
    pub supports_decay_model: bool,
}

/// The description of a store instance.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ManifestInfo<M> {
    /// A token that changes when the manifest changes.
    pub capabilities_version: String,
    /// The manifest.
    pub manifest: M,
}

/// The manifest of a store of skills, with optional extra fields.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkillStoreManifest {
    /// The storage medium.
    pub kind: String,
    /// The path, if the medium is a folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root_dir: Option<String>,
    /// The path, if the medium is a database file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub db_path: Option<String>,
    /// Further fields.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// The manifest of a store of data, with optional extra fields.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DataStoreManifest {
    /// The storage medium.
    pub kind: String,
    /// Supported search modes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub supported_modes: Option<Vec<String>>,
    /// All supported filters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub supported_filters: Option<Vec<String>>,
    /// Range of the scores.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score_range: Option<(f64, f64)>,
    /// Further fields.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}
