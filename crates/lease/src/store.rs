//! The store interface of leases.

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use nightdesk_types::{BotId, LeaseBeat, Node, NodeEpoch, OwnerEpoch, StoreError};

/// A resource that one node at a time owns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Resource {
    /// A bot: its socket, its rate limit, and the order of its sends.
    Bot(BotId),
    /// The external anchor of the audit log's chain heads.
    AuditAnchor,
    /// The look for causes of alerts, and their messages.
    Alerts,
}

impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bot(bot) => write!(f, "bot/{bot}"),
            Self::AuditAnchor => f.write_str("audit-anchor"),
            Self::Alerts => f.write_str("alerts"),
        }
    }
}

/// The owner of a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// The node in its life.
    pub node: Node,
    /// The number that increases with each new owner.
    pub epoch: OwnerEpoch,
}

/// The result of a renewal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Renewal {
    /// The life continues.
    Kept,
    /// The other nodes considered the node dead, or it was restarted: this life is over.
    Over,
}

/// A life that is not over, as the store has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Life {
    /// The node in its life.
    pub node: Node,
    /// The number of its renewals. A change shows that the node lives.
    pub beat: LeaseBeat,
    /// True if the lease has expired by the store's clock, which is no proof of a death.
    pub is_expired: bool,
}

/// A node, as another one reaches it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Peer {
    /// True if its life is not over.
    pub is_living: bool,
    /// The URL at which it listens for other nodes, if it has announced one.
    pub url: Option<String>,
}

/// The nodes of a cell, as they reach each other.
#[async_trait]
pub trait PeerDirectory: Send + Sync {
    /// Records the URL at which other nodes reach this one in its life.
    async fn announce(&self, node: &Node, url: &str) -> Result<(), StoreError>;

    /// Returns the node of this name.
    async fn find_peer(&self, name: &str) -> Result<Peer, StoreError>;
}

/// Stores leases. A life goes on until its node or another node ends it, or its node begins the next one; the store's
/// clock ends none.
#[async_trait]
pub trait Store: Send + Sync {
    /// Begins a node's next life, and ends the previous one.
    async fn begin(&self, name: &str, lasts: Duration) -> Result<NodeEpoch, StoreError>;

    /// Renews a life that no node has ended, also if its lease expired.
    async fn renew(&self, node: &Node, lasts: Duration) -> Result<Renewal, StoreError>;

    /// Ends a life and releases its resources.
    async fn end(&self, node: &Node) -> Result<(), StoreError>;

    /// Returns every life that is not over.
    async fn read_lives(&self) -> Result<Vec<Life>, StoreError>;

    /// Ends lives that were not renewed since they were read, and returns their nodes.
    async fn end_lives(&self, lives: &[Life]) -> Result<Vec<Node>, StoreError>;

    /// Returns the number of lives that are not over.
    async fn count_living(&self) -> Result<u32, StoreError>;

    /// Returns the owner of a resource. If no live node owns it, the node becomes the owner. `None`: the node's own
    /// life is over, so it may not claim.
    async fn find_or_claim(
        &self,
        resource: Resource,
        node: &Node,
    ) -> Result<Option<Owner>, StoreError>;
}
