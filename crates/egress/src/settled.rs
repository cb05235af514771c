//! Settled: what came of a send, as it is stored and answered.

use nightdesk_port::{DeliverError, Receipt};
use serde::{Deserialize, Serialize};

/// What came of a send.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Settled {
    /// The platform did it.
    Delivered(Receipt),
    /// It was not done; the text says why.
    Failed(String),
    /// It was begun, and nobody knows whether it was done.
    Ambiguous,
}

impl From<Result<Receipt, DeliverError>> for Settled {
    fn from(delivered: Result<Receipt, DeliverError>) -> Self {
        match delivered {
            Ok(receipt) => Self::Delivered(receipt),
            Err(DeliverError::Ambiguous(_)) => Self::Ambiguous,
            Err(DeliverError::Refused { platform_code }) => {
                Self::Failed(format!("message refused by the platform: {platform_code}"))
            }
            Err(
                error @ (DeliverError::RateLimited { .. }
                | DeliverError::Unavailable(_)
                | DeliverError::KeyRejected
                | DeliverError::Unsupported),
            ) => Self::Failed(error.to_string()),
        }
    }
}
