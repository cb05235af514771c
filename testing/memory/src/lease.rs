//! Implements the store of leases.

use std::time::Duration;

use async_trait::async_trait;
use nightdesk_lease::{Owner, Renewal, Resource, Store};
use nightdesk_types::{Node, NodeEpoch, OwnerEpoch, StoreError, Timestamp};

use super::{Memory, State};

/// A node's row.
pub(super) struct NodeRow {
    epoch: NodeEpoch,
    began_at: Timestamp,
    expires_at: Timestamp,
    is_over: bool,
}

impl State {
    fn life(&mut self, node: &Node) -> Option<&mut NodeRow> {
        let row = self.nodes.get_mut(&node.name)?;
        (row.epoch == node.epoch && !row.is_over).then_some(row)
    }

    /// Returns true if that life is over.
    pub(super) fn is_gone(&self, node: &Node) -> bool {
        let row = self.nodes.get(&node.name);
        row.is_none_or(|row| row.epoch != node.epoch || row.is_over)
    }

    /// Returns true if that life goes on.
    pub(super) fn lives(&self, node: &Node, now: Timestamp) -> bool {
        let row = self.nodes.get(&node.name);
        row.is_some_and(|row| row.epoch == node.epoch && row.expires_at > now)
    }

    /// Returns the end of that life, as far as it is over.
    pub(super) fn ended_at(&self, node: &Node, now: Timestamp) -> Option<Timestamp> {
        let row = self.nodes.get(&node.name)?;
        let of_itself = row.epoch == node.epoch;
        Some(if of_itself { row.expires_at.min(now) } else { row.began_at })
    }

    /// Returns true if an owner's write still counts.
    pub(super) fn owns(&self, resource: Resource, owner: &Owner) -> bool {
        self.owners.get(&resource.to_string()) == Some(owner)
    }

    /// Returns true if a live node owns the resource.
    pub(super) fn is_owned(&self, resource: Resource, now: Timestamp) -> bool {
        let owner = self.owners.get(&resource.to_string()).cloned();
        owner.is_some_and(|owner| self.lives(&owner.node, now))
    }
}

#[async_trait]
impl Store for Memory {
    async fn begin(&self, name: &str, lasts: Duration) -> Result<NodeEpoch, StoreError> {
        let began_at = self.now();
        let mut state = self.lock();
        let before = state.nodes.get(name).map_or_else(NodeEpoch::default, |row| row.epoch);
        let epoch = before.next();
        let row = NodeRow { epoch, began_at, expires_at: began_at + lasts, is_over: false };
        state.nodes.insert(name.to_owned(), row);
        Ok(epoch)
    }

    async fn renew(&self, node: &Node, lasts: Duration) -> Result<Renewal, StoreError> {
        let expires_at = self.now() + lasts;
        let mut state = self.lock();
        let renewed = state.life(node).map(|row| row.expires_at = expires_at);
        Ok(if renewed.is_some() { Renewal::Kept } else { Renewal::Over })
    }

    async fn end(&self, node: &Node) -> Result<(), StoreError> {
        let now = self.now();
        if let Some(row) = self.lock().life(node) {
            row.is_over = true;
            row.expires_at = row.expires_at.min(now);
        }
        Ok(())
    }

    async fn end_dead_nodes(&self, late: Duration) -> Result<Vec<Node>, StoreError> {
        let now = self.now();
        let mut buried = Vec::new();
        for (name, row) in &mut self.lock().nodes {
            if !row.is_over && row.expires_at + late < now {
                row.is_over = true;
                buried.push(Node { name: name.clone(), epoch: row.epoch });
            }
        }
        Ok(buried)
    }

    async fn count_living(&self) -> Result<u32, StoreError> {
        let now = self.now();
        let state = self.lock();
        let living = state.nodes.values().filter(|row| row.expires_at > now && !row.is_over);
        Ok(u32::try_from(living.count()).unwrap_or(u32::MAX))
    }

    async fn find_or_claim(
        &self,
        resource: Resource,
        node: &Node,
    ) -> Result<Option<Owner>, StoreError> {
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
