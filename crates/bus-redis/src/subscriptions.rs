//! Subscribes to the channels of all addresses with recipients on this node.

use std::collections::BTreeSet;

use nightdesk_bus::{BellAddress, MarkedItems, Ring};
use nightdesk_types::AgentId;
use nightdesk_types::limits::CHANNELS_AT_ONCE_MAX;
use redis::RedisError;
use redis::aio::MultiplexedConnection;

use crate::bell::RedisBell;
use crate::note::BellNote;

/// The subscriptions of a connection.
pub(crate) struct Subscriptions<'a> {
    bell: &'a RedisBell,
    connection: MultiplexedConnection,
    followed: BTreeSet<BellAddress>,
}

impl<'a> Subscriptions<'a> {
    /// Subscribes to all addresses with recipients on this node.
    pub(crate) async fn subscribe_all(
        bell: &'a RedisBell,
        connection: MultiplexedConnection,
    ) -> Result<Self, RedisError> {
        let mut following = Self { bell, connection, followed: BTreeSet::new() };
        following.subscribe(bell.lines.addresses()).await?;
        Ok(following)
    }

    /// Follows every change, until a command fails.
    pub(crate) async fn keep_up(mut self) -> RedisError {
        loop {
            let changed = match self.bell.lines.changed_addresses().wait_and_take().await {
                MarkedItems::These(changed) => changed,
                MarkedItems::All => {
                    let mut all = self.followed.clone();
                    all.extend(self.bell.lines.addresses());
                    all
                }
            };
            if let Err(error) = self.apply_changes(changed).await {
                return error;
            }
        }
    }

    async fn apply_changes(&mut self, changed: BTreeSet<BellAddress>) -> Result<(), RedisError> {
        let (here, gone): (Vec<BellAddress>, Vec<BellAddress>) =
            changed.into_iter().partition(|address| self.bell.lines.listens_at(address));
        let new = here.iter().filter(|address| !self.followed.contains(address));
        let new: Vec<BellAddress> = new.cloned().collect();
        self.subscribe(new.clone()).await?;
        // Hints between the line's first read and now were lost.
        for agent in new.iter().filter_map(agent_of_address) {
            self.bell.lines.lines_in_doubt().doubt_line(agent);
        }
        self.unsubscribe(gone).await?;
        self.ring_replaced_lines(here.iter().filter_map(agent_of_address)).await;
        Ok(())
    }

    async fn subscribe(&mut self, addresses: Vec<BellAddress>) -> Result<(), RedisError> {
        for some in addresses.chunks(CHANNELS_AT_ONCE_MAX) {
            self.connection.subscribe(self.channels(some)).await?;
        }
        self.followed.extend(addresses);
        Ok(())
    }

    async fn unsubscribe(&mut self, mut addresses: Vec<BellAddress>) -> Result<(), RedisError> {
        addresses.retain(|address| self.followed.remove(address));
        for some in addresses.chunks(CHANNELS_AT_ONCE_MAX) {
            self.connection.unsubscribe(self.channels(some)).await?;
        }
        Ok(())
    }

    fn channels(&self, addresses: &[BellAddress]) -> Vec<String> {
        addresses.iter().map(|address| self.bell.channels.channel_of(address)).collect()
    }

    /// Notifies an older line on another node that a newer one opened here. If the hint is lost, the older line finds
    /// out at its next read or ack.
    async fn ring_replaced_lines(&self, agents: impl Iterator<Item = AgentId>) {
        let rings = agents.filter_map(|agent| {
            let by = self.bell.lines.generation(agent)?;
            self.bell.seal_note(
                &BellNote::Ring(Ring::Replaced { agent, by }),
                &BellAddress::Agent(agent),
            )
        });
        let rings: Vec<(String, String)> = rings.collect();
        for some in rings.chunks(CHANNELS_AT_ONCE_MAX) {
            if self.bell.publisher.publish_all(some).await.is_err() {
                return;
            }
        }
    }
}

const fn agent_of_address(address: &BellAddress) -> Option<AgentId> {
    match address {
        BellAddress::Agent(agent) => Some(*agent),
        BellAddress::All | BellAddress::Node(_) | BellAddress::Chat(..) => None,
    }
}
