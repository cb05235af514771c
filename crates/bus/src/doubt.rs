//! Doubt: which lines may have missed the bell.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use aws_lc_rs::rand;
use nightdesk_types::AgentId;

use crate::marks::{Marked, Marks};

/// Lines whose inboxes somebody should look at, since the bell may have rung unheard.
#[derive(Debug, Default)]
pub struct Doubt {
    lines: Marks<AgentId>,
    broken: AtomicBool,
}

impl Doubt {
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
}

/// A span, give or take a fifth, so that nodes that begin together do not stay together.
pub fn spread(span: Duration) -> Duration {
    let mut chance = [0; 2];
    // Without chance it is the span itself.
    if rand::fill(&mut chance).is_err() {
        return span;
    }
    span.mul_f64(0.4f64.mul_add(f64::from(u16::from_be_bytes(chance)) / f64::from(u16::MAX), 0.8))
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
    fn a_span_is_spread_by_a_fifth() {
        for _ in 0..1_000 {
            let span = spread(Duration::from_secs(10));
            assert!((8..=12).contains(&span.as_secs()), "{span:?}");
        }
    }
}
