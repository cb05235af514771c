//! What a store says of itself: before there is one, and once there is.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The contract that the stores here keep.
pub(crate) const CONTRACT_VERSION: &str = "1.0.0";

/// Of which contract something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConnectorType {
    /// A store of skills.
    SkillStore,
    /// A store of data.
    DataStore,
}

impl ConnectorType {
    /// As it is written.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::SkillStore => "skill_store",
            Self::DataStore => "data_store",
        }
    }
}

/// What is true of every store of a kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capabilities<F> {
    /// Of which contract it is.
    pub connector_type: ConnectorType,
    /// Which implementation it is.
    pub implementation: String,
    /// Which version of the contract it keeps.
    pub contract_version: String,
    /// What it can do.
    pub features: F,
}

/// What a store of skills can do.
#[expect(clippy::struct_excessive_bools, reason = "the contract has a word for each")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkillFeatures {
    /// It can be written to.
    pub supports_writes: bool,
    /// What a skill said before can be read.
    pub supports_versioning: bool,
    /// It keeps the filter of tags.
    pub supports_tag_filter: bool,
    /// It says who changed what.
    pub supports_audit_trail: bool,
    /// A status changes altogether or not at all.
    pub supports_atomic_status_transitions: bool,
}

impl SkillFeatures {
    /// All of them.
    pub const ALL: Self = Self {
        supports_writes: true,
        supports_versioning: true,
        supports_tag_filter: true,
        supports_audit_trail: true,
        supports_atomic_status_transitions: true,
    };
}

/// What a store of data can do.
#[expect(clippy::struct_excessive_bools, reason = "the contract has a word for each")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataFeatures {
    /// It can be written to.
    pub supports_writes: bool,
    /// It keeps the filter of tags.
    pub supports_tag_filter: bool,
    /// It finds what means the same.
    pub supports_semantic: bool,
    /// It puts the best first, by a second look.
    pub supports_rerank: bool,
    /// It keeps the filter of a thread's state.
    pub supports_thread_status_filter: bool,
    /// It knows what is pinned.
    pub supports_pinning: bool,
    /// It forgets.
    pub supports_decay_model: bool,
}

/// What a store says once there is one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ManifestInfo<M> {
    /// Moves when what follows does.
    pub capabilities_version: String,
    /// What it says.
    pub manifest: M,
}

/// What a store of skills says. Open.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkillStoreManifest {
    /// What it keeps skills in.
    pub kind: String,
    /// Where, if that is a folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root_dir: Option<String>,
    /// Where, if that is a database in a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub db_path: Option<String>,
    /// What else it has to say.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// What a store of data says. Open.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DataStoreManifest {
    /// What it keeps data in.
    pub kind: String,
    /// How it can look for something.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub supported_modes: Option<Vec<String>>,
    /// Every filter that it keeps, and no other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub supported_filters: Option<Vec<String>>,
    /// Between what its scores lie.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score_range: Option<(f64, f64)>,
    /// What else it has to say.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}
