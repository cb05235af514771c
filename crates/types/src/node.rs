//! A node: one of the equal processes of a desk.

use crate::NodeEpoch;

/// A node in one of its lives. Resources of a life end with it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Node {
    /// The name, the same over restarts.
    pub name: String,
    /// The number of the node's life.
    pub epoch: NodeEpoch,
}
