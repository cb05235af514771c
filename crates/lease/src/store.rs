//! The store interface of leases.

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use nightdesk_types::{BotId, Node, NodeEpoch, OwnerEpoch, StoreError};

/// A resource that one node at a time owns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Resource {
    /// A bot: its socket, its rate limit, and the order of its sends.
    Bot(BotId),
    /// The external anchor of the audit log's chain heads.
    AuditAnchor,
}

impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bot(bot) => write!(f, "bot/{bot}"),
            Self::AuditAnchor => f.write_str("audit-anchor"),
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

/// Stores leases, by its own clock.
#[async_trait]
pub trait Store: Send + Sync {
    /// Begins a node's next life, and ends the previous one.
    async fn begin(&self, name: &str, lasts: Duration) -> Result<NodeEpoch, StoreError>;

    /// Renews a life, also one whose lease expired but that no node has ended yet.
    async fn renew(&self, node: &Node, lasts: Duration) -> Result<Renewal, StoreError>;

    /// Ends a life and releases its resources.
    async fn end(&self, node: &Node) -> Result<(), StoreError>;

    /// Ends every life whose lease expired at least `late` ago, and returns the nodes.
    async fn end_dead_nodes(&self, late: Duration) -> Result<Vec<Node>, StoreError>;

    /// Returns the number of live nodes.
    async fn count_living(&self) -> Result<u32, StoreError>;

    /// Returns the owner of a resource. If no live node owns it, the node becomes the owner. `None`: the node's own
    /// lease has expired, so it may not claim.
    async fn find_or_claim(
        &self,
        resource: Resource,
        node: &Node,
    ) -> Result<Option<Owner>, StoreError>;
}
