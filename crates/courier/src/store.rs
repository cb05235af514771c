//! What the courier asks of a store.

use async_trait::async_trait;
use nightdesk_protocol::delivery::{DeliveryReceipt, WakeReceipt};
use nightdesk_types::{StoreError, TenantScope};

use crate::error::ConnectorError;

/// What was asked of a connector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// To hand something over.
    Deliver,
    /// To interrupt with it.
    Wake,
}

impl Route {
    /// Its name on the wire and in rows.
    pub const fn slug(self) -> &'static str {
        match self {
            Self::Deliver => "deliver",
            Self::Wake => "wake",
        }
    }

    /// The one of this name.
    pub fn named(slug: &str) -> Option<Self> {
        [Self::Deliver, Self::Wake].into_iter().find(|route| route.slug() == slug)
    }
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Came {
    /// It was handed over.
    Delivered(DeliveryReceipt),
    /// It was handed over, and the agent woken or not.
    Woken(WakeReceipt),
    /// It was not.
    Failed(ConnectorError),
}

impl Came {
    /// Whether it was handed over.
    pub const fn is_ok(&self) -> bool {
        match self {
            Self::Delivered(_) | Self::Woken(_) => true,
            Self::Failed(_) => false,
        }
    }
}

/// What came of one emit by one way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The emit.
    pub dispatch_id: String,
    /// The way.
    pub connector: String,
    /// To whom.
    pub address: String,
    /// What was asked.
    pub route: Route,
    /// What came of it.
    pub came: Came,
}

/// Keeps what came of letters.
#[async_trait]
pub trait Receipts: Send + Sync {
    /// Writes down what came of an emit. A repeat replaces what it repeats.
    async fn note(&self, scope: TenantScope, record: &Record) -> Result<(), StoreError>;

    /// What came of an emit, by the name of the way.
    async fn receipts(
        &self,
        scope: TenantScope,
        dispatch_id: &str,
    ) -> Result<Vec<Record>, StoreError>;
}
