//! Vault: where keys are kept.
//!
//! # Promise
//!
//! What is sealed can be opened only with the key file of this desk, only for the tenant,
//! kind, row and version it was sealed for, and is never printed.
//!
//! Begin with [`Vault`]: it holds the key-encryption key and wraps one data key per tenant.
//! A [`DataKey`] seals and opens that tenant's secrets.

mod key;
mod envelope;
mod keyring;

pub use envelope::{DataKey, OpenError, Place};
pub use key::Key;
pub use keyring::{KeyFileError, Vault, WrappedKey};
