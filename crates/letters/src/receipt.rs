//! Receipts: the result of a dispatch through each connector.

use nightdesk_protocol::delivery::{DeliveryReceipt, WakeReceipt};
use nightdesk_types::TenantScope;
use serde::{Deserialize, Serialize};

use crate::error::ConnectorError;
use crate::letter::Route;

/// The result of an operation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeliveryOutcome {
    /// The letter was delivered.
    Delivered(DeliveryReceipt),
    /// The letter was delivered, and the agent woken or not.
    Woken(WakeReceipt),
    /// The letter was not delivered.
    Failed(DeliveryFailure),
}

/// The stored reason why a letter was not delivered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeliveryFailure {
    /// The cause, for programs.
    pub cause: String,
    /// The text, for people.
    pub words: String,
}

impl From<ConnectorError> for DeliveryFailure {
    fn from(error: ConnectorError) -> Self {
        Self { cause: error.slug().to_owned(), words: error.to_string() }
    }
}

impl DeliveryOutcome {
    /// Returns true if the letter was delivered.
    pub const fn is_ok(&self) -> bool {
        match self {
            Self::Delivered(_) | Self::Woken(_) => true,
            Self::Failed(_) => false,
        }
    }
}

/// The result of one dispatch through one connector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveryRecord {
    /// The dispatch.
    pub dispatch_id: String,
    /// The connector.
    pub connector: String,
    /// The recipient.
    pub address: String,
    /// The operation.
    pub route: Route,
    /// The result.
    pub outcome: DeliveryOutcome,
}

/// A record, and the tenant whose agent sent the letter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// The sender's tenant.
    pub scope: TenantScope,
    /// The record.
    pub record: DeliveryRecord,
}
