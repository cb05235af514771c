//! The store of leases.

use std::time::Duration;

use async_trait::async_trait;
use nightdesk_lease::{Owner, Renewed, Resource, Store};
use nightdesk_types::{Node, NodeEpoch, OwnerEpoch, StoreError, Timestamp};

use super::{Memory, State};

/// A node's row.
#[derive(Default)]
pub(super) struct NodeRow {
    epoch: NodeEpoch,
    /// `None`: its life was ended.
    expires_at: Option<Timestamp>,
}

impl State {
    fn life(&mut self, node: &Node) -> Option<&mut NodeRow> {
        let row = self.nodes.get_mut(&node.name)?;
        (row.epoch == node.epoch && row.expires_at.is_some()).then_some(row)
    }

    /// Whether that life was ended.
    pub(super) fn is_gone(&self, node: &Node) -> bool {
        let row = self.nodes.get(&node.name);
        row.is_none_or(|row| row.epoch != node.epoch || row.expires_at.is_none())
    }

    fn lives(&self, node: &Node, now: Timestamp) -> bool {
        let row = self.nodes.get(&node.name).filter(|row| row.epoch == node.epoch);
        row.and_then(|row| row.expires_at).is_some_and(|until| until > now)
    }

    /// Whether a write of an owner still counts.
    pub(super) fn owns(&self, resource: Resource, owner: &Owner) -> bool {
        self.owners.get(&resource.to_string()) == Some(owner)
    }

    /// Whether somebody who lives owns something.
    pub(super) fn is_owned(&self, resource: Resource, now: Timestamp) -> bool {
        let owner = self.owners.get(&resource.to_string()).cloned();
        owner.is_some_and(|owner| self.lives(&owner.node, now))
    }
}

#[async_trait]
impl Store for Memory {
    async fn begin(&self, name: &str, lasts: Duration) -> Result<NodeEpoch, StoreError> {
        let expires_at = Some(self.now() + lasts);
        let mut state = self.lock();
        let row = state.nodes.entry(name.to_owned()).or_default();
        *row = NodeRow { epoch: row.epoch.next(), expires_at };
        Ok(row.epoch)
    }

    async fn renew(&self, node: &Node, lasts: Duration) -> Result<Renewed, StoreError> {
        let expires_at = Some(self.now() + lasts);
        let mut state = self.lock();
        let renewed = state.life(node).map(|row| row.expires_at = expires_at);
        Ok(if renewed.is_some() { Renewed::Kept } else { Renewed::Over })
    }

    async fn end(&self, node: &Node) -> Result<(), StoreError> {
        if let Some(row) = self.lock().life(node) {
            row.expires_at = None;
        }
        Ok(())
    }

    async fn bury(&self, late: Duration) -> Result<Vec<Node>, StoreError> {
        let now = self.now();
        let mut buried = Vec::new();
        for (name, row) in &mut self.lock().nodes {
            if row.expires_at.is_some_and(|until| until + late < now) {
                row.expires_at = None;
                buried.push(Node { name: name.clone(), epoch: row.epoch });
            }
        }
        Ok(buried)
    }

    async fn own(&self, resource: Resource, node: &Node) -> Result<Option<Owner>, StoreError> {
        let now = self.now();
        let mut state = self.lock();
        let before = state.owners.get(&resource.to_string()).cloned();
        if let Some(owner) = before.clone().filter(|owner| state.lives(&owner.node, now)) {
            return Ok(Some(owner));
        }
        if !state.lives(node, now) {
            return Ok(None);
        }
        let epoch = before.map_or_else(OwnerEpoch::default, |owner| owner.epoch).next();
        let owner = Owner { node: node.clone(), epoch };
        state.owners.insert(resource.to_string(), owner.clone());
        Ok(Some(owner))
    }
}
