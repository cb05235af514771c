//! Skills and data that the agents of a tenant share.
//!
//! # Promise
//!
//! Content stays as written until an agent writes it again or removes it, and earlier versions of a skill can be read.
//! A skill belongs to its first author. The token of a whole shelf changes with everything visible in it. A filter is
//! applied or rejected, never dropped. In secured mode nothing is approved without a signature of the tenant's key, and
//! the private key is not on the desk.
//!
//! Bodies are bytes with a few header lines: no language is parsed.
//!
//! Begin with [`SkillStore`] and [`DataStore`], the contract; [`plan`] decides the result of a write. [`FolderSkills`]
//! stores skills in a folder; [`TenantSkills`] and [`TenantData`] use a store of [`Skills`] and [`Records`].

mod skill;
mod data;
mod capability;
mod error;
mod contract;
mod name;
mod lines;
mod header;
mod metadata;
mod hash;
pub mod approval;
mod plan;
mod filter;
mod catalogue;
mod depends;
mod entry;
mod folder;
mod store;
mod tenant;

pub use approval::{Approval, PublicKey};
pub use capability::{
    ConnectorType, DataFeatures, DataStoreManifest, ManifestInfo, SkillFeatures,
    SkillStoreManifest, StoreCapabilities,
};
pub use catalogue::{
    Audience, Catalogue, CatalogueFilter, CatalogueResponse, Category, Output, SkillEntry, Trigger,
    TriggerKind, Var, catalogue,
};
pub use contract::{DataStore, SkillStore};
pub use data::{DataWrite, DataWriteRecord, Expiry, PortableData, QueryFilters};
pub use depends::dependents;
pub use entry::{CURATED_FILTERS, DataQuery, NewData, READ_BY_WORDS};
pub use error::{DataStoreError, SkillStoreError};
pub use filter::page;
pub use folder::FolderSkills;
pub use hash::{content_hash, version_of};
pub use header::{Header, OutputDeclared, StatusLine, TriggerDeclared, VarDeclared, with_status};
pub use name::check_name;
pub use plan::{SkillDraft, StoredSkill, WritePlan, plan, plan_status};
pub use skill::{
    OneOrMany, SkillFilter, SkillMeta, SkillPatch, SkillSource, SkillStatus, SkillTrigger,
    SkillType, VersionInfo,
};
pub use store::{ContractResult, Records, Revision, RevisionStamp, ShelfState, Skills, writer};
pub use tenant::{TenantData, TenantSkills};
