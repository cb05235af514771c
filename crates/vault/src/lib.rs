//! Seals and opens keys, secrets and messages.
//!
//! # Promise
//!
//! A sealed value can be opened only with a key of this desk's ring, only for the tenant, kind, row and version it was
//! sealed for, and is never printed. A message opens only for its tenant, its agent and the random id beside it. Every key can be replaced while the desk serves.
//!
//! Begin with [`Vault`]: it has the vault's own keys and wraps the data keys of tenants. A [`DataKey`] seals and opens
//! one tenant's secrets and messages; the [`Locksmith`] replaces keys.

mod key;
mod body;
mod envelope;
mod ring;
mod vault;
mod store;
mod erasure_list;
mod locksmith;
pub mod kind;

pub use body::{BodyId, BodyKind, BodyOwner};
pub use envelope::{DataKey, OpenError, SEALED_EXTRA_BYTES, SealPlace};
pub use erasure_list::{
    ErasureList, ErasureListError, ErasurePlan, ListedErasure, TenantState, plan_erasures,
};
pub use key::Key;
pub use locksmith::{Locksmith, RekeyError};
pub use ring::{KekId, KeyFileError};
pub use store::{
    OwnRow, OwnTable, ResealedRow, RewrappedKey, SealedRow, SealedTable, Store, WrappedRow,
};
pub use vault::{Vault, WrappedKey};
