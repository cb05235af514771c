//! The lines that may have missed a hint.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use aws_lc_rs::rand;
use nightdesk_types::AgentId;
use nightdesk_types::backoff::jitter;
use nightdesk_types::limits::DOUBT_SWEEP_EVERY;

use crate::mark_set::{MarkSet, MarkedItems};

/// Lines whose inboxes must be checked, because a hint may have been lost.
#[derive(Debug, Default)]
pub struct LinesInDoubt {
    node: String,
    lines: MarkSet<AgentId>,
    broken: AtomicBool,
    rests: AtomicU32,
}

impl LinesInDoubt {
    /// Creates the state of a node.
    pub(crate) fn for_node(name: impl Into<String>) -> Self {
        Self { node: name.into(), ..Self::default() }
    }

    /// Sets whether the bell is broken. Lines are in doubt when a break begins, while it lasts, and once more when it
    /// ends.
    pub fn set_broken(&self, broken: bool) {
        if self.broken.swap(broken, Ordering::Relaxed) != broken {
            self.lines.mark_all();
        }
    }

    /// Returns true if the bell is broken.
    pub fn is_broken(&self) -> bool {
        self.broken.load(Ordering::Relaxed)
    }

    /// Puts all lines in doubt.
    pub fn doubt_all(&self) {
        self.lines.mark_all();
    }

    /// Puts the line of this agent in doubt.
    pub fn doubt_line(&self, agent: AgentId) {
        self.lines.mark(agent);
    }

    /// Waits until lines are in doubt, and takes them. While the bell is broken, all lines are.
    pub async fn next_doubts(&self) -> MarkedItems<AgentId> {
        if self.is_broken() {
            self.lines.take();
            return MarkedItems::All;
        }
        self.lines.wait_and_take().await
    }

    /// Returns the pause after a check of all lines: [`DOUBT_SWEEP_EVERY`], plus or minus a fifth. Each node has its
    /// own sequence, the same in every life, so that a simulation can be replayed.
    pub fn next_pause(&self) -> Duration {
        let turn = self.rests.fetch_add(1, Ordering::Relaxed);
        spread_by(DOUBT_SWEEP_EVERY, jitter((&self.node, turn)))
    }
}

/// Returns a span plus or minus a fifth at random, so that nodes that start together do not stay in step.
pub fn spread(span: Duration) -> Duration {
    let mut chance = [0; 2];
    // Without random bytes it is the span itself.
    if rand::fill(&mut chance).is_err() {
        return span;
    }
    spread_by(span, f64::from(u16::from_be_bytes(chance)) / f64::from(u16::MAX))
}

fn spread_by(span: Duration, random: f64) -> Duration {
    span.mul_f64(0.4f64.mul_add(random, 0.8))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use tokio::time::timeout;
    use uuid::Uuid;

    use super::*;

    const AGENT: AgentId = AgentId::from_uuid(Uuid::nil());

    async fn taken(doubt: &LinesInDoubt) -> Option<MarkedItems<AgentId>> {
        timeout(Duration::ZERO, doubt.next_doubts()).await.ok()
    }

    #[tokio::test]
    async fn all_lines_are_in_doubt_during_a_break_and_once_after_it() {
        let doubt = LinesInDoubt::default();
        assert_eq!(taken(&doubt).await, None);

        doubt.set_broken(true);
        assert_eq!(taken(&doubt).await, Some(MarkedItems::All));
        assert_eq!(taken(&doubt).await, Some(MarkedItems::All), "it lasts");
        doubt.set_broken(false);
        assert_eq!(taken(&doubt).await, Some(MarkedItems::All), "what came in its last moment");
        doubt.set_broken(false);
        assert_eq!(taken(&doubt).await, None, "nothing new");
    }

    #[tokio::test]
    async fn one_line_in_doubt_is_one_line() {
        let doubt = LinesInDoubt::default();
        doubt.doubt_line(AGENT);

        assert_eq!(taken(&doubt).await, Some(MarkedItems::These(BTreeSet::from([AGENT]))));
        assert_eq!(taken(&doubt).await, None);
    }

    #[test]
    fn nodes_that_begin_together_do_not_stay_together() {
        let rests = |name: &str| -> Vec<Duration> {
            let doubt = LinesInDoubt::for_node(name);
            (0..10).map(|_| doubt.next_pause()).collect()
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
