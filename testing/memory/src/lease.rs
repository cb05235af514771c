//! Implements the store of leases.

use std::time::Duration;

use async_trait::async_trait;
use nightdesk_lease::{Life, Owner, Renewal, Resource, Store};
use nightdesk_types::{LeaseBeat, Node, NodeEpoch, OwnerEpoch, StoreError, Timestamp};

use super::{Memory, State};

/// A node's row.
pub(super) struct NodeRow {
    pub(super) epoch: NodeEpoch,
    beat: LeaseBeat,
    pub(super) began_at: Timestamp,
    pub(super) expires_at: Timestamp,
    pub(super) is_over: bool,
}

impl State {
    fn life(&mut self, node: &Node) -> Option<&mut NodeRow> {
        let row = self.nodes.get_mut(&node.name)?;
        (row.epoch == node.epoch && !row.is_over).then_some(row)
    }

    /// Returns true if that life goes on. The clock has no part in it.
    pub(super) fn lives(&self, node: &Node) -> bool {
        let row = self.nodes.get(&node.name);
        row.is_some_and(|row| row.epoch == node.epoch && !row.is_over)
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
    pub(super) fn is_owned(&self, resource: Resource) -> bool {
        let owner = self.owners.get(&resource.to_string());
        owner.is_some_and(|owner| self.lives(&owner.node))
    }
}

#[async_trait]
impl Store for Memory {
    async fn begin(&self, name: &str, lasts: Duration) -> Result<NodeEpoch, StoreError> {
        let began_at = self.now();
        let mut state = self.lock();
        let before = state.nodes.get(name).map_or_else(NodeEpoch::default, |row| row.epoch);
        let epoch = before.next();
        let (beat, expires_at) = (LeaseBeat::default(), began_at + lasts);
        let row = NodeRow { epoch, beat, began_at, expires_at, is_over: false };
        state.nodes.insert(name.to_owned(), row);
        Ok(epoch)
    }

    async fn renew(&self, node: &Node, lasts: Duration) -> Result<Renewal, StoreError> {
        let expires_at = self.now() + lasts;
        let mut state = self.lock();
        let Some(row) = state.life(node) else { return Ok(Renewal::Over) };
        row.beat = row.beat.next();
        row.expires_at = expires_at;
        Ok(Renewal::Kept)
    }

    async fn end(&self, node: &Node) -> Result<(), StoreError> {
        let now = self.now();
        if let Some(row) = self.lock().life(node) {
            row.is_over = true;
            row.expires_at = row.expires_at.min(now);
        }
        Ok(())
    }

    async fn read_lives(&self) -> Result<Vec<Life>, StoreError> {
        let now = self.now();
        let state = self.lock();
        let lives = state.nodes.iter().filter(|(_, row)| !row.is_over).map(|(name, row)| Life {
            node: Node { name: name.clone(), epoch: row.epoch },
            beat: row.beat,
            is_expired: row.expires_at <= now,
        });
        Ok(lives.collect())
    }

    async fn end_lives(&self, lives: &[Life]) -> Result<Vec<Node>, StoreError> {
        let now = self.now();
        let mut state = self.lock();
        let mut ended = Vec::new();
        for life in lives {
            if let Some(row) = state.life(&life.node).filter(|row| row.beat == life.beat) {
                row.is_over = true;
                row.expires_at = row.expires_at.min(now);
                ended.push(life.node.clone());
            }
        }
        Ok(ended)
    }

    async fn count_living(&self) -> Result<u32, StoreError> {
        let state = self.lock();
        let living = state.nodes.values().filter(|row| !row.is_over);
        Ok(u32::try_from(living.count()).unwrap_or(u32::MAX))
    }

    async fn find_or_claim(
        &self,
        resource: Resource,
        node: &Node,
    ) -> Result<Option<Owner>, StoreError> {
        let mut state = self.lock();
        let before = state.owners.get(&resource.to_string()).cloned();
        if let Some(owner) = before.clone().filter(|owner| state.lives(&owner.node)) {
            return Ok(Some(owner));
        }
        if !state.lives(node) {
            return Ok(None);
        }
        let epoch = before.map_or_else(OwnerEpoch::default, |owner| owner.epoch).next();
        let owner = Owner { node: node.clone(), epoch };
        state.owners.insert(resource.to_string(), owner.clone());
        Ok(Some(owner))
    }
}
