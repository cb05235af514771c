//! What leases ask of a store.

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use nightdesk_types::{BotId, Node, NodeEpoch, OwnerEpoch, StoreError};

/// Something that one node at a time owns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Resource {
    /// A bot: its socket, its pace, and the order of what is said through it.
    Bot(BotId),
    /// The second place where the heads of the audit log are written down.
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

/// Who owns something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// Which node, in which life.
    pub node: Node,
    /// Rises whenever somebody else takes it over.
    pub epoch: OwnerEpoch,
}

/// What came of renewing a lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Renewed {
    /// The life goes on.
    Kept,
    /// Others took the node for dead, or it was started again: this life is over.
    Over,
}

/// Keeps leases, by its own clock.
#[async_trait]
pub trait Store: Send + Sync {
    /// Begins a node's next life, and ends the one before.
    async fn begin(&self, name: &str, lasts: Duration) -> Result<NodeEpoch, StoreError>;

    /// Prolongs a life, also one whose lease ran out and that nobody has ended yet.
    async fn renew(&self, node: &Node, lasts: Duration) -> Result<Renewed, StoreError>;

    /// Ends a life. Whatever it owned is free.
    async fn end(&self, node: &Node) -> Result<(), StoreError>;

    /// Ends every life whose lease ran out so long ago. Answers whose.
    async fn bury(&self, late: Duration) -> Result<Vec<Node>, StoreError>;

    /// How many nodes live.
    async fn living(&self) -> Result<u32, StoreError>;

    /// Who owns something; the node itself if no living node does. `None`: the node's own lease
    /// ran out, so it may not take anything.
    async fn own(&self, resource: Resource, node: &Node) -> Result<Option<Owner>, StoreError>;
}
