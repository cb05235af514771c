//! Shelf: skills and data that the agents of a tenant share.
//!
//! # Promise
//!
//! What was written stays as it was written until somebody writes it again or removes it, and what it
//! said before can still be read. A skill is its first author's. The token that stands for a whole shelf
//! moves with everything that can be seen of it. A filter that is not kept is refused, never dropped. In
//! secured mode nothing is approved that the key does not vouch for, and the key that signs is not here.
//!
//! Bodies are bytes with a few header lines: nothing here reads the language they are written in.
//!
//! Begin with [`SkillStore`] and [`DataStore`], the contract; [`plan`] decides what a write leaves behind.
//! [`FolderSkills`] keeps skills in a folder; [`TenantSkills`] and [`TenantData`] keep them wherever a
//! store of [`Skills`] and [`Records`] does.

mod skill;
mod data;
mod capability;
mod error;
mod contract;
mod name;
mod lines;
mod header;
mod hash;
pub mod approval;
mod plan;
mod filter;
mod catalogue;
mod depends;
mod entry;
mod folder;
mod store;
mod shelved;
#[cfg(feature = "conformance")]
pub mod conformance;

pub use approval::{Approval, PublicKey};
pub use capability::{
    Capabilities, ConnectorType, DataFeatures, DataStoreManifest, ManifestInfo, SkillFeatures,
    SkillStoreManifest,
};
pub use catalogue::{
    Audience, Catalogue, CatalogueFilter, Category, Listed, Output, SkillEntry, Trigger,
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
pub use header::{Header, OutputDeclared, StatusLine, TriggerDeclared, VarDeclared};
pub use name::check_name;
pub use plan::{Draft, Kept, Planned, plan, plan_status};
pub use shelved::{TenantData, TenantSkills};
pub use skill::{
    OneOrMany, SkillFilter, SkillMeta, SkillPatch, SkillSource, SkillStatus, SkillTrigger,
    SkillType, VersionInfo,
};
pub use store::{Asked, Records, Revision, Shelf, Skills, writer};
