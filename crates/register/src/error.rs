//! The error of the register and of the issuers.

use nightdesk_types::StoreError;
use nightdesk_vault::OpenError;

/// An error of the register.
#[derive(Debug, thiserror::Error)]
pub enum RegisterError {
    /// The store failed.
    #[error("the register could not be read or written")]
    Store(#[from] StoreError),
    /// A sealed value does not open: another key file sealed it.
    #[error("a sealed value does not open with this desk's vault keys")]
    Sealed(#[from] OpenError),
    /// The keys of a trusted issuer cannot be read, and the cached ones are too old.
    #[error("the keys of a trusted issuer cannot be read")]
    NoIssuerKeys,
    /// No key of the desk may sign now.
    #[error("the desk has no signing key at the moment")]
    NoSigningKey,
}
