//! Reads a chain from its beginning and reports where it was tampered with. No I/O.

use std::collections::VecDeque;

use nightdesk_types::{TenantId, Timestamp};

use super::{Anchor, AuditRecord, Chain, ChainLink, link_hash};

/// A fault in a chain.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// A row is missing.
    #[error("row {seq} is missing")]
    Missing {
        /// Its number.
        seq: i64,
    },
    /// A row differs from the one that was written.
    #[error("row {seq}, or the one before it, was changed")]
    Changed {
        /// Its number.
        seq: i64,
    },
    /// The chain ends before its head.
    #[error("the rows after {last} are cut off; there were {head}")]
    Cut {
        /// The last row that exists.
        last: i64,
        /// The last row that existed.
        head: i64,
    },
    /// The rows form a chain, but not the anchored one.
    #[error("up to row {seq} the chain differs from the one that was recorded at {at}")]
    Rewritten {
        /// The number of the anchored row.
        seq: i64,
        /// The time of the anchor.
        at: Timestamp,
    },
    /// Rows were removed before their retention ended.
    #[error("rows up to {seq} were removed before their retention ended")]
    LetGoEarly {
        /// The last of the removed rows.
        seq: i64,
    },
}

/// Verifies one tenant's chain.
#[derive(Debug)]
pub struct Verifier {
    tenant: TenantId,
    last_link: ChainLink,
    head: ChainLink,
    /// Anchors that are not reached yet, by number.
    anchors: VecDeque<Anchor>,
}

impl Verifier {
    /// Begins at the first stored row. A row that existed at an anchor after `kept_since` must still exist.
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
        // A row that was written after an anchor is younger than the anchor.
        let early = |anchor: &&Anchor| anchor.link.seq < begins.seq && anchor.at > kept_since;
        if anchors.iter().any(|anchor| early(&anchor)) {
            return Err(Fault::LetGoEarly { seq: begins.seq });
        }
        anchors.retain(|anchor| anchor.link.seq >= begins.seq);
        let mut verifier = Self { tenant, last_link: begins, head, anchors: anchors.into() };
        verifier.pass_anchors()?;
        Ok(verifier)
    }

    /// Returns the number of the last verified row.
    pub const fn verified_seq(&self) -> i64 {
        self.last_link.seq
    }

    /// Returns true if every row up to the head was verified.
    pub const fn is_whole(&self) -> bool {
        self.last_link.seq >= self.head.seq
    }

    /// Verifies the next row.
    pub fn verify_next(&mut self, deed: &AuditRecord) -> Result<(), Fault> {
        let seq = self.last_link.seq + 1;
        if deed.seq != seq {
            return Err(Fault::Missing { seq });
        }
        let hash = link_hash(&self.last_link, self.tenant, deed);
        if hash != deed.hash {
            return Err(Fault::Changed { seq });
        }
        self.last_link = ChainLink { seq, hash };
        if seq == self.head.seq && self.last_link != self.head {
            return Err(Fault::Changed { seq });
        }
        self.pass_anchors()
    }

    /// Ends after the last row. Returns the number of the last verified row.
    pub fn finish(self) -> Result<i64, Fault> {
        let last = self.last_link.seq;
        let anchored = self.anchors.back().map_or(0, |anchor| anchor.link.seq);
        let head = self.head.seq.max(anchored);
        if last < head { Err(Fault::Cut { last, head }) } else { Ok(last) }
    }

    fn pass_anchors(&mut self) -> Result<(), Fault> {
        while let Some(anchor) =
            self.anchors.pop_front_if(|next| next.link.seq <= self.last_link.seq)
        {
            if anchor.link != self.last_link {
                return Err(Fault::Rewritten { seq: anchor.link.seq, at: anchor.at });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
