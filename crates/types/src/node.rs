//! Node: one of the equal processes of a desk.

use crate::NodeEpoch;

/// A node, in one life of it. What belongs to a life ends with it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Node {
    /// Its name: the same over restarts.
    pub name: String,
    /// Which of its lives.
    pub epoch: NodeEpoch,
}
