//! Tracks the heartbeats of other nodes. A silent node is a break of the bell too, because its hints do not arrive.

use std::collections::BTreeMap;

use nightdesk_types::Moment;
use nightdesk_types::limits::{BEAT_MISSED_AFTER, LIVES_MAX, NODE_FORGOTTEN_AFTER};

/// The other nodes, by name.
#[derive(Debug, Default)]
pub(crate) struct Peers(BTreeMap<String, PeerNode>);

#[derive(Debug)]
struct PeerNode {
    life: u64,
    heard: Moment,
    missed: u64,
}

/// A heartbeat of another node.
#[derive(Debug)]
pub(crate) struct Heartbeat {
    /// The name of the node.
    pub(crate) node: String,
    /// The node's life. A restarted node has another one.
    pub(crate) life: u64,
    /// The number of rings that failed in this life.
    pub(crate) missed: u64,
}

/// The meaning of a heartbeat for the lines here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HeartbeatMeaning {
    /// All its rings succeeded.
    Well,
    /// Some of its rings failed since the last heartbeat, so hints are lost.
    Missed,
}

impl Peers {
    /// Handles the heartbeat of another node.
    pub(crate) fn record_heartbeat(
        &mut self,
        now: Moment,
        heartbeat: Heartbeat,
    ) -> HeartbeatMeaning {
        let Heartbeat { node, life, missed } = heartbeat;
        let known = self.0.get(&node).filter(|peer| peer.life == life);
        let before = known.map_or(0, |peer| peer.missed);
        if self.0.len() < LIVES_MAX || self.0.contains_key(&node) {
            self.0.insert(node, PeerNode { life, heard: now, missed });
        }
        if missed > before { HeartbeatMeaning::Missed } else { HeartbeatMeaning::Well }
    }

    /// Removes a node that stops. Its next life may have sent a heartbeat already.
    pub(crate) fn remove_stopped(&mut self, node: &str, life: u64) {
        if self.0.get(node).is_some_and(|peer| peer.life == life) {
            self.0.remove(node);
        }
    }

    /// Restarts the silence timers, because this node could not receive.
    pub(crate) fn listen_again(&mut self, now: Moment) {
        for peer in self.0.values_mut() {
            peer.heard = now;
        }
    }

    /// Returns a node whose heartbeat is missing.
    pub(crate) fn find_missing(&mut self, now: Moment) -> Option<&str> {
        self.0.retain(|_, peer| now.since(peer.heard) < NODE_FORGOTTEN_AFTER);
        let mut peers = self.0.iter();
        peers.find(|(_, peer)| now.since(peer.heard) > BEAT_MISSED_AFTER).map(|(name, _)| &**name)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn at(millis: u64) -> Moment {
        Moment::after_start(Duration::from_millis(millis))
    }

    fn beat(life: u64, missed: u64) -> Heartbeat {
        Heartbeat { node: "b".to_owned(), life, missed }
    }

    #[test]
    fn a_silent_node_is_missing_until_it_is_heard_says_bye_or_is_forgotten() {
        let mut peers = Peers::default();
        peers.record_heartbeat(at(0), beat(1, 0));
        assert_eq!(peers.find_missing(at(1_500)), None);
        assert_eq!(peers.find_missing(at(1_501)), Some("b"));
        peers.record_heartbeat(at(2_000), beat(1, 0));
        assert_eq!(peers.find_missing(at(3_000)), None);

        peers.remove_stopped("b", 2);
        assert_eq!(peers.find_missing(at(9_000)), Some("b"), "another life said bye");
        peers.remove_stopped("b", 1);
        assert_eq!(peers.find_missing(at(9_000)), None);

        peers.record_heartbeat(at(0), beat(1, 0));
        assert_eq!(peers.find_missing(at(599_999)), Some("b"));
        assert_eq!(peers.find_missing(at(600_000)), None);
    }

    #[test]
    fn our_own_silence_is_not_theirs() {
        let mut peers = Peers::default();
        peers.record_heartbeat(at(0), beat(1, 0));
        peers.listen_again(at(10_000));

        assert_eq!(peers.find_missing(at(11_000)), None);
    }

    #[test]
    fn a_ring_that_was_missed_is_told_once() {
        let mut peers = Peers::default();
        let cases = [
            ("new and well", 1, 0, HeartbeatMeaning::Well),
            ("missed some", 1, 3, HeartbeatMeaning::Missed),
            ("nothing more", 1, 3, HeartbeatMeaning::Well),
            ("more", 1, 4, HeartbeatMeaning::Missed),
            ("a new life that missed some", 2, 1, HeartbeatMeaning::Missed),
            ("a new life that is well", 3, 0, HeartbeatMeaning::Well),
        ];
        for (name, life, missed, want) in cases {
            assert_eq!(peers.record_heartbeat(at(0), beat(life, missed)), want, "{name}");
        }
    }
}
