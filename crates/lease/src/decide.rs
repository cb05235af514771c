//! Decides which other nodes are dead.
//!
//! One clock is not proof of a death. When the database's clock is set forward, every lease expires at once, while every
//! node lives. So a node counts the time since it saw the last renewal of another node by its own monotonic clock, and
//! takes part of its decision from each clock.

use std::collections::BTreeMap;

use nightdesk_types::limits::{LEASE_LASTS, LEASE_SILENT_MAX};
use nightdesk_types::{LeaseBeat, Moment, Node, NodeEpoch};

use crate::store::Life;

/// The lives that a read of the store returned.
#[derive(Clone, Copy, Debug)]
pub struct LivesRead<'a> {
    /// The lives that are not over.
    pub lives: &'a [Life],
    /// The time when the store was asked. The lives are at least as new.
    pub asked_at: Moment,
    /// The time of the response. The lives are at least as old.
    pub answered_at: Moment,
}

/// The renewals of other nodes that this node saw.
#[derive(Debug, Default)]
pub struct NodeWatch {
    seen: BTreeMap<String, Sighting>,
}

/// The newest renewal that was seen of a node, and the time since when.
#[derive(Clone, Copy, Debug)]
struct Sighting {
    epoch: NodeEpoch,
    beat: LeaseBeat,
    since: Moment,
}

impl NodeWatch {
    /// Records the lives, and returns those of other nodes that are dead.
    ///
    /// A life is dead if this node saw no renewal of it for the duration of a lease, and if it has expired by the
    /// database's clock too, or was silent for so long that this clock must have been set back.
    pub fn find_dead(&mut self, this: &Node, read: LivesRead<'_>) -> Vec<Life> {
        let others = read.lives.iter().filter(|life| life.node.name != this.name);
        let seen = others.map(|life| (life, self.sighting(life, read.answered_at)));
        let seen: Vec<_> = seen.collect();
        let dead = seen.iter().filter(|(life, sighting)| is_dead(life, sighting, read.asked_at));
        let dead = dead.map(|(life, _)| (*life).clone()).collect();
        self.seen = seen.into_iter().map(|(life, seen)| (life.node.name.clone(), seen)).collect();
        dead
    }

    /// Forgets everything. For a node that could not renew its own lease: the other nodes may have failed to as well.
    ///
    /// A failed read needs no such call. Beats only rise, so a beat that is unchanged after a gap was unchanged all along;
    /// and while this node renews, the others can. A slow store, of which some reads fail, would otherwise delay the end
    /// of a dead node without bound.
    pub fn forget(&mut self) {
        self.seen.clear();
    }

    fn sighting(&self, life: &Life, now: Moment) -> Sighting {
        let (epoch, beat) = (life.node.epoch, life.beat);
        let known = self.seen.get(&life.node.name);
        let same = known.filter(|known| known.epoch == epoch && known.beat == beat);
        same.copied().unwrap_or(Sighting { epoch, beat, since: now })
    }
}

fn is_dead(life: &Life, seen: &Sighting, now: Moment) -> bool {
    let silent_for = now.since(seen.since);
    silent_for >= LEASE_SILENT_MAX || (silent_for >= LEASE_LASTS && life.is_expired)
}

#[cfg(test)]
mod tests;
