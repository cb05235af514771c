//! Seals and opens keys and secrets.
//!
//! # Promise
//!
//! A sealed value can be opened only with a key of this desk's ring, only for the tenant, kind, row and version it was
//! sealed for, and is never printed. Every key can be replaced while the desk serves.
//!
//! Begin with [`Vault`]: it has the vault's own keys and wraps the data keys of tenants. A [`DataKey`] seals and opens
//! one tenant's secrets; the [`Locksmith`] replaces keys.

mod key;
mod envelope;
mod ring;
mod vault;
mod store;
mod erasure_list;
mod locksmith;
pub mod kind;

pub use envelope::{DataKey, OpenError, SealPlace};
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
