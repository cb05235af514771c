//! Verifier: reads a chain from its beginning and says where it was tampered with. No I/O.

use std::collections::VecDeque;

use nightdesk_types::{TenantId, Timestamp};

use super::{Anchor, Chain, Deed, Link, linked};

/// What is wrong with a chain.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// A row is not there.
    #[error("row {seq} is missing")]
    Missing {
        /// Which.
        seq: i64,
    },
    /// A row is not the one that was written.
    #[error("row {seq}, or the one before it, was changed")]
    Changed {
        /// Which.
        seq: i64,
    },
    /// The chain ends before its head.
    #[error("the rows after {last} are cut off; there were {head}")]
    Cut {
        /// The last row that is there.
        last: i64,
        /// The last row there was.
        head: i64,
    },
    /// The rows are a chain, and not the one that was anchored.
    #[error("up to row {seq} the chain is not the one that was written down at {at}")]
    Rewritten {
        /// Which row was anchored.
        seq: i64,
        /// When.
        at: Timestamp,
    },
    /// Rows are gone that were to be kept.
    #[error("rows up to {seq} were let go before their time")]
    LetGoEarly {
        /// The last of them.
        seq: i64,
    },
}

/// Reads one tenant's chain.
#[derive(Debug)]
pub struct Verifier {
    tenant: TenantId,
    stands: Link,
    head: Link,
    /// Those that are to come, by number.
    anchors: VecDeque<Anchor>,
}

impl Verifier {
    /// Begins where the chain does. Nothing that was there at an anchor after `kept_since` may be
    /// gone.
    pub fn begin(
        tenant: TenantId,
        chain: Chain,
        anchors: &[Anchor],
        kept_since: Timestamp,
    ) -> Result<Self, Fault> {
        let Chain { begins, head } = chain;
        let mut anchors: Vec<Anchor> =
            anchors.iter().filter(|anchor| anchor.tenant == tenant).cloned().collect();
        anchors.sort_by_key(|anchor| anchor.link.seq);
        // What was written after it is younger than it.
        let early = |anchor: &&Anchor| anchor.link.seq < begins.seq && anchor.at > kept_since;
        if anchors.iter().any(|anchor| early(&anchor)) {
            return Err(Fault::LetGoEarly { seq: begins.seq });
        }
        anchors.retain(|anchor| anchor.link.seq >= begins.seq);
        let mut verifier = Self { tenant, stands: begins, head, anchors: anchors.into() };
        verifier.pass_anchors()?;
        Ok(verifier)
    }

    /// The number of the last row that is good.
    pub const fn stands_at(&self) -> i64 {
        self.stands.seq
    }

    /// Whether every row up to the head was taken.
    pub const fn is_whole(&self) -> bool {
        self.stands.seq >= self.head.seq
    }

    /// Takes the next row.
    pub fn take(&mut self, deed: &Deed) -> Result<(), Fault> {
        let seq = self.stands.seq + 1;
        if deed.seq != seq {
            return Err(Fault::Missing { seq });
        }
        let hash = linked(&self.stands, self.tenant, deed);
        if hash != deed.hash {
            return Err(Fault::Changed { seq });
        }
        self.stands = Link { seq, hash };
        if seq == self.head.seq && self.stands != self.head {
            return Err(Fault::Changed { seq });
        }
        self.pass_anchors()
    }

    /// Ends with the last row there is. Answers how far the chain is good.
    pub fn end(self) -> Result<i64, Fault> {
        let last = self.stands.seq;
        let anchored = self.anchors.back().map_or(0, |anchor| anchor.link.seq);
        let head = self.head.seq.max(anchored);
        if last < head { Err(Fault::Cut { last, head }) } else { Ok(last) }
    }

    fn pass_anchors(&mut self) -> Result<(), Fault> {
        while let Some(anchor) = self.anchors.pop_front_if(|next| next.link.seq <= self.stands.seq)
        {
            if anchor.link != self.stands {
                return Err(Fault::Rewritten { seq: anchor.link.seq, at: anchor.at });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
