//! Z18: for any rows of leases, a node is dead only if its row did not change for the duration of a lease by this
//! node's own clock, and this node is never dead for itself.

use std::collections::BTreeMap;
use std::time::Duration;

use nightdesk_lease::{Life, LivesRead, NodeWatch};
use nightdesk_types::limits::LEASE_LASTS;
use nightdesk_types::{LeaseBeat, Moment, Node, NodeEpoch};

use crate::input::FuzzInput;

/// Most reads of one input.
const READS_MAX: usize = 64;

/// Limit of the rows of one read.
const ROWS_LIMIT: u8 = 5;

/// Names of nodes. The first is this node's.
const NAMES: [&str; 4] = ["this", "one", "other", ""];

/// The moment since when each row was in every read.
type Sightings = BTreeMap<(String, NodeEpoch, LeaseBeat), Moment>;

/// Each read is a pause, a count and its rows.
pub(super) fn run(data: &[u8]) {
    let mut input = FuzzInput::new(data);
    let this = Node { name: NAMES[0].to_owned(), epoch: NodeEpoch::new(1) };
    let (mut watch, mut sightings, mut now) =
        (NodeWatch::default(), Sightings::new(), Moment::default());
    for _ in 0..READS_MAX {
        if input.is_empty() {
            return;
        }
        let asked_at = now + Duration::from_millis(input.take_u16().into());
        let answered_at = asked_at + Duration::from_millis(input.take_byte().into());
        now = answered_at;
        let lives: Vec<Life> =
            (0..input.take_byte() % ROWS_LIMIT).map(|_| take_life(&mut input)).collect();
        let dead = watch.find_dead(&this, LivesRead { lives: &lives, asked_at, answered_at });
        for life in &dead {
            assert!(lives.contains(life), "{life:?} is not in the store");
            assert_ne!(life.node.name, this.name, "a node does not bury itself");
            let unchanged_since = sightings.get(&key(life)).copied().unwrap_or(answered_at);
            let silent_for = asked_at.since(unchanged_since);
            assert!(silent_for >= LEASE_LASTS, "{life:?} was silent for {silent_for:?}");
        }
        let since = |life| sightings.get(&key(life)).copied().unwrap_or(answered_at);
        sightings = lives.iter().map(|life| (key(life), since(life))).collect();
    }
}

fn take_life(input: &mut FuzzInput<'_>) -> Life {
    let name = NAMES[usize::from(input.take_byte()) % NAMES.len()].to_owned();
    let epoch = NodeEpoch::new(input.take_number().cast_signed());
    let beat = LeaseBeat::new(input.take_number().cast_signed());
    Life { node: Node { name, epoch }, beat, is_expired: input.take_byte().is_multiple_of(2) }
}

fn key(life: &Life) -> (String, NodeEpoch, LeaseBeat) {
    (life.node.name.clone(), life.node.epoch, life.beat)
}
