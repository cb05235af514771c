//! Anchors: the head of a chain at a time, stored where an attacker with write access to the database cannot write.

use std::fmt;
use std::str::FromStr;

use nightdesk_types::{TenantId, Timestamp};

use super::ChainLink;

/// A line of the second store: `time tenant number hash`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Anchor {
    /// The time at which the anchor was written.
    pub at: Timestamp,
    /// The tenant whose chain it is.
    pub tenant: TenantId,
    /// The head of the chain at that time.
    pub link: ChainLink,
}

/// A line that is not an anchor.
#[derive(Debug, thiserror::Error)]
#[error("not a line of an anchor file: it should read `time tenant number hash`")]
pub struct NotAnAnchor;

impl fmt::Display for Anchor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { at, tenant, link } = self;
        write!(f, "{at} {tenant} {} {}", link.seq, hex::encode(&link.hash))
    }
}

impl FromStr for Anchor {
    type Err = NotAnAnchor;

    fn from_str(line: &str) -> Result<Self, NotAnAnchor> {
        let mut words = line.split_ascii_whitespace();
        let mut word = || words.next().ok_or(NotAnAnchor);
        let (at, tenant, seq, hash) = (word()?, word()?, word()?, word()?);
        Ok(Self {
            at: at.parse().map_err(|_| NotAnAnchor)?,
            tenant: tenant.parse().map_err(|_| NotAnAnchor)?,
            link: ChainLink {
                seq: seq.parse().map_err(|_| NotAnAnchor)?,
                hash: hex::decode(hash).map_err(|_| NotAnAnchor)?,
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn a_line_is_read_as_it_was_written() {
        let anchor = Anchor {
            at: Timestamp::from_second(1_800_000_000).unwrap(),
            tenant: TenantId::from_uuid(Uuid::from_u128(7)),
            link: ChainLink { seq: 12, hash: vec![9; 32] },
        };

        assert_eq!(anchor.to_string().parse::<Anchor>().unwrap(), anchor);
        assert!("2027-01-15T08:00:00Z 7".parse::<Anchor>().is_err());
    }
}
