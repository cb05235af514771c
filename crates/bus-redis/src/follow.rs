//! Subscribes to the channels of all addresses with recipients on this node.

use std::collections::BTreeSet;

use nightdesk_bus::{Address, Marked, Ring};
use nightdesk_types::AgentId;
use nightdesk_types::limits::CHANNELS_AT_ONCE_MAX;
use redis::RedisError;
use redis::aio::MultiplexedConnection;

use crate::bell::RedisBell;
use crate::note::Note;

/// The subscriptions of a connection.
pub(crate) struct Following<'a> {
    bell: &'a RedisBell,
    connection: MultiplexedConnection,
    followed: BTreeSet<Address>,
}

impl<'a> Following<'a> {
    /// Subscribes to all addresses with recipients on this node.
    pub(crate) async fn begin(
        bell: &'a RedisBell,
        connection: MultiplexedConnection,
    ) -> Result<Self, RedisError> {
        let mut following = Self { bell, connection, followed: BTreeSet::new() };
        following.begin_at(bell.ears.addresses()).await?;
        Ok(following)
    }

    /// Follows every change, until a command fails.
    pub(crate) async fn keep_up(mut self) -> RedisError {
        loop {
            let changed = match self.bell.ears.changes().taken().await {
                Marked::These(changed) => changed,
                Marked::All => {
                    let mut all = self.followed.clone();
                    all.extend(self.bell.ears.addresses());
                    all
                }
            };
            if let Err(error) = self.change(changed).await {
                return error;
            }
        }
    }

    async fn change(&mut self, changed: BTreeSet<Address>) -> Result<(), RedisError> {
        let (here, gone): (Vec<Address>, Vec<Address>) =
            changed.into_iter().partition(|address| self.bell.ears.listens_at(address));
        let new = here.iter().filter(|address| !self.followed.contains(address));
        let new: Vec<Address> = new.cloned().collect();
        self.begin_at(new.clone()).await?;
        // Hints between the line's first read and now were lost.
        for agent in new.iter().filter_map(agent) {
            self.bell.ears.doubt().line(agent);
        }
        self.end_at(gone).await?;
        self.tell_the_replaced(here.iter().filter_map(agent)).await;
        Ok(())
    }

    async fn begin_at(&mut self, addresses: Vec<Address>) -> Result<(), RedisError> {
        for some in addresses.chunks(CHANNELS_AT_ONCE_MAX) {
            self.connection.subscribe(self.channels(some)).await?;
        }
        self.followed.extend(addresses);
        Ok(())
    }

    async fn end_at(&mut self, mut addresses: Vec<Address>) -> Result<(), RedisError> {
        addresses.retain(|address| self.followed.remove(address));
        for some in addresses.chunks(CHANNELS_AT_ONCE_MAX) {
            self.connection.unsubscribe(self.channels(some)).await?;
        }
        Ok(())
    }

    fn channels(&self, addresses: &[Address]) -> Vec<String> {
        addresses.iter().map(|address| self.bell.channels.at(address)).collect()
    }

    /// Notifies an older line on another node that a newer one opened here. If the hint is lost, the older line finds
    /// out at its next read or ack.
    async fn tell_the_replaced(&self, agents: impl Iterator<Item = AgentId>) {
        let rings = agents.filter_map(|agent| {
            let by = self.bell.ears.generation(agent)?;
            self.bell.sealed(&Note::Ring(Ring::Replaced { agent, by }), &Address::Agent(agent))
        });
        let rings: Vec<(String, String)> = rings.collect();
        for some in rings.chunks(CHANNELS_AT_ONCE_MAX) {
            if self.bell.voice.say_all(some).await.is_err() {
                return;
            }
        }
    }
}

const fn agent(address: &Address) -> Option<AgentId> {
    match address {
        Address::Agent(agent) => Some(*agent),
        Address::All | Address::Node(_) | Address::Chat(..) => None,
    }
}
