//! The reasons that the office refuses or fails.

use nightdesk_letters::ConnectorError;
use nightdesk_register::RegisterError;
use nightdesk_shelf::{DataStoreError, SkillStoreError};
use nightdesk_types::{OverQuota, StoreError};
use nightdesk_users::Denial;

/// The reason that a function did nothing. Each text names the next step.
#[derive(Debug, thiserror::Error)]
pub enum OfficeError {
    /// The object does not exist, or is of another tenant.
    #[error("{0}")]
    NotFound(String),
    /// The state of the object does not permit it.
    #[error("{0}")]
    Conflict(String),
    /// The request is wrong.
    #[error("{0}")]
    Invalid(String),
    /// A platform or the list of erased tenants cannot be used at the moment.
    #[error("{0}")]
    Unavailable(String),
    /// The user may not do it.
    #[error(transparent)]
    Denied(#[from] Denial),
    /// The tenant may not do it to an object that another tenant shares.
    #[error("{0}")]
    NotAllowed(String),
    /// The tenant is at its quota.
    #[error("{0}; an operator can raise the quota")]
    OverQuota(OverQuota),
    /// The store failed. The same call may succeed later.
    #[error("the desk cannot do it at the moment, and nothing was changed; retry")]
    Store(#[source] StoreError),
    /// A letter could not be sent.
    #[error(transparent)]
    Letter(ConnectorError),
    /// A skill could not be read or changed.
    #[error(transparent)]
    Skill(SkillStoreError),
    /// Data could not be read or written.
    #[error(transparent)]
    Data(DataStoreError),
    /// A key could not be used.
    #[error("the desk cannot use a key of the vault; its log has the cause")]
    Key(#[source] RegisterError),
}

impl From<StoreError> for OfficeError {
    fn from(error: StoreError) -> Self {
        match error.over_quota() {
            Some(over) => Self::OverQuota(over),
            None => Self::Store(error),
        }
    }
}

impl From<RegisterError> for OfficeError {
    fn from(error: RegisterError) -> Self {
        match error {
            RegisterError::Store(error) => error.into(),
            other @ (RegisterError::Sealed(_)
            | RegisterError::NoIssuerKeys
            | RegisterError::NoSigningKey) => Self::Key(other),
        }
    }
}
