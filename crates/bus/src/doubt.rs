//! Doubt: which lines may have missed the bell.

use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use aws_lc_rs::rand;
use nightdesk_types::AgentId;
use nightdesk_types::limits::DOUBT_SWEEP_EVERY;

use crate::marks::{Marked, Marks};

/// Lines whose inboxes somebody should look at, since the bell may have rung unheard.
#[derive(Debug, Default)]
pub struct Doubt {
    node: String,
    lines: Marks<AgentId>,
    broken: AtomicBool,
    rests: AtomicU32,
}

impl Doubt {
    /// The doubt of the node of this name.
    pub(crate) fn of_node(name: impl Into<String>) -> Self {
        Self { node: name.into(), ..Self::default() }
    }

    /// Says whether the bell is broken now. Lines are in doubt when a break begins, while it
    /// lasts, and once more when it ends.
    pub fn set_broken(&self, broken: bool) {
        if self.broken.swap(broken, Ordering::Relaxed) != broken {
            self.lines.mark_all();
        }
    }

    /// Whether the bell is broken.
    pub fn is_broken(&self) -> bool {
        self.broken.load(Ordering::Relaxed)
    }

    /// Something may have been missed by any line.
    pub fn all(&self) {
        self.lines.mark_all();
    }

    /// Something may have been missed by this agent's line.
    pub fn line(&self, agent: AgentId) {
        self.lines.mark(agent);
    }

    /// Waits until lines are in doubt, and takes them. While the bell is broken, all are.
    pub async fn taken(&self) -> Marked<AgentId> {
        if self.is_broken() {
            self.lines.take();
            return Marked::All;
        }
        self.lines.taken().await
    }

    /// How long to rest after a look at all lines: [`DOUBT_SWEEP_EVERY`], give or take a fifth.
    /// Each node has a row of its own, the same in every life, so that a run can be played again.
    pub fn rest(&self) -> Duration {
        let turn = self.rests.fetch_add(1, Ordering::Relaxed);
        let hasher = BuildHasherDefault::<DefaultHasher>::default();
        let [high, low, ..] = hasher.hash_one((&self.node, turn)).to_be_bytes();
        spread_by(DOUBT_SWEEP_EVERY, u16::from_be_bytes([high, low]))
    }
}

/// A span, give or take a fifth, so that nodes that begin together do not stay together.
pub fn spread(span: Duration) -> Duration {
    let mut chance = [0; 2];
    // Without chance it is the span itself.
    if rand::fill(&mut chance).is_err() {
        return span;
    }
    spread_by(span, u16::from_be_bytes(chance))
}

fn spread_by(span: Duration, chance: u16) -> Duration {
    span.mul_f64(0.4f64.mul_add(f64::from(chance) / f64::from(u16::MAX), 0.8))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use tokio::time::timeout;
    use uuid::Uuid;

    use super::*;

    const AGENT: AgentId = AgentId::from_uuid(Uuid::nil());

    async fn taken(doubt: &Doubt) -> Option<Marked<AgentId>> {
        timeout(Duration::ZERO, doubt.taken()).await.ok()
    }

    #[tokio::test]
    async fn all_lines_are_in_doubt_during_a_break_and_once_after_it() {
        let doubt = Doubt::default();
        assert_eq!(taken(&doubt).await, None);

        doubt.set_broken(true);
        assert_eq!(taken(&doubt).await, Some(Marked::All));
        assert_eq!(taken(&doubt).await, Some(Marked::All), "it lasts");
        doubt.set_broken(false);
        assert_eq!(taken(&doubt).await, Some(Marked::All), "what came in its last moment");
        doubt.set_broken(false);
        assert_eq!(taken(&doubt).await, None, "nothing new");
    }

    #[tokio::test]
    async fn one_line_in_doubt_is_one_line() {
        let doubt = Doubt::default();
        doubt.line(AGENT);

        assert_eq!(taken(&doubt).await, Some(Marked::These(BTreeSet::from([AGENT]))));
        assert_eq!(taken(&doubt).await, None);
    }

    #[test]
    fn nodes_that_begin_together_do_not_stay_together() {
        let rests = |name: &str| -> Vec<Duration> {
            let doubt = Doubt::of_node(name);
            (0..10).map(|_| doubt.rest()).collect()
        };
        let (one, two) = (rests("node-1"), rests("node-2"));

        assert!(one.iter().zip(&two).all(|(one, two)| one != two), "{one:?} {two:?}");
        assert!(one.windows(2).all(|two| two[0] != two[1]), "{one:?}");
        assert!(one.iter().all(|rest| (1_600..=2_400).contains(&rest.as_millis())), "{one:?}");
    }

    #[test]
    fn a_span_is_spread_by_a_fifth() {
        for _ in 0..1_000 {
            let span = spread(Duration::from_secs(10));
            assert!((8..=12).contains(&span.as_secs()), "{span:?}");
        }
    }
}
