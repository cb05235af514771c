//! Defines the behaviours of gateways, and assigns one to each.

use nightdesk_types::Transport;
use serde::{Deserialize, Serialize};

use crate::chance::Dice;

/// Behaviour of a gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Manner {
    /// Acks its entries.
    Normal,
    /// The SDK, recorded on the wire.
    Sdk,
    /// Acks everything twice.
    AcksTwice,
    /// Acks late and out of order.
    AcksLate,
    /// Also acks entries that it never received.
    AcksUnknown,
    /// Never acks a passthrough, like the stock client.
    Stock,
    /// Never acks.
    NeverAcks,
    /// Dials ten times a second.
    Redials,
    /// Stops reading for a while with its line open.
    Freezes,
    /// Sends that it goes idle, and dials again after a second.
    Idles,
    /// Leaves without a close frame, and stays away until it is woken.
    Leaves,
    /// Leaves its line open and dials another.
    Deserts,
    /// Polls over HTTP, each request at a random node. It loses responses, repeats takes, sits still for a turn of up to
    /// 20 seconds, and leaves until it is woken.
    Polls,
    /// Does the same by the MCP tools.
    PollsByMcp,
    /// Has its entries posted. It answers in the response, or acks later by a request, and fails once.
    Posted,
}

/// Manners that no promise makes an exception for, with their percentages.
const POLITE: [(Manner, usize); 4] =
    [(Manner::Sdk, 8), (Manner::AcksTwice, 4), (Manner::AcksLate, 8), (Manner::AcksUnknown, 4)];

/// Manners after which entries are redelivered.
const ODD: [(Manner, usize); 7] = [
    (Manner::Stock, 6),
    (Manner::NeverAcks, 2),
    (Manner::Redials, 1),
    (Manner::Freezes, 3),
    (Manner::Idles, 6),
    (Manner::Leaves, 4),
    (Manner::Deserts, 3),
];

/// Manners of agents without a WebSocket. No promise makes an exception for them.
const WITHOUT_SOCKET: [(Manner, usize); 3] =
    [(Manner::Polls, 6), (Manner::PollsByMcp, 4), (Manner::Posted, 6)];

impl Manner {
    /// Returns the transport of its lines.
    pub const fn transport(self) -> Transport {
        match self {
            Self::Polls => Transport::Polling,
            Self::PollsByMcp => Transport::Mcp,
            Self::Posted => Transport::Webhook,
            Self::Normal
            | Self::Sdk
            | Self::AcksTwice
            | Self::AcksLate
            | Self::AcksUnknown
            | Self::Stock
            | Self::NeverAcks
            | Self::Redials
            | Self::Freezes
            | Self::Idles
            | Self::Leaves
            | Self::Deserts => Transport::WebSocket,
        }
    }

    /// Returns the manner once the run comes to rest.
    #[must_use]
    pub fn settled(self) -> Self {
        if self.transport() == Transport::WebSocket { Self::Normal } else { self }
    }

    /// Returns true if entries are redelivered after this manner.
    pub fn is_odd(self) -> bool {
        ODD.iter().any(|(odd, _)| *odd == self)
    }

    /// Returns true if entries may be parked because of this manner: a client that dials again and again before it acks
    /// looks like one that fails on its first entry.
    pub const fn may_park(self) -> bool {
        matches!(self, Self::Redials | Self::Deserts | Self::NeverAcks | Self::Freezes)
    }
}

/// The manners of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manners {
    /// `WebSockets`, and no manner that a promise makes an exception for.
    Polite,
    /// All manners.
    All,
}

/// Assigns a manner to each member, from the seed.
pub fn assigned(seed: u64, manners: Manners, members: usize) -> Vec<Manner> {
    let (odd, others) =
        if manners == Manners::All { (&ODD[..], &WITHOUT_SOCKET[..]) } else { (&[][..], &[][..]) };
    let shares = POLITE.iter().chain(odd).chain(others);
    let mut assigned: Vec<Manner> = shares
        .flat_map(|(manner, percent)| {
            // A small world also has one of each.
            std::iter::repeat_n(*manner, (members * percent / 100).max(1))
        })
        .take(members)
        .collect();
    assigned.resize(members, Manner::Normal);
    Dice::of(seed, 1).shuffle(&mut assigned);
    assigned
}

/// Returns the members whose entries are posted.
pub fn posted(manners: &[Manner]) -> impl Iterator<Item = usize> {
    let is_posted = |(_, manner): &(usize, &Manner)| manner.transport() == Transport::Webhook;
    manners.iter().enumerate().filter(is_posted).map(|(member, _)| member)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_seed_says_who_behaves_how() {
        let all = assigned(7, Manners::All, 100);

        assert_eq!(all, assigned(7, Manners::All, 100));
        assert_ne!(all, assigned(8, Manners::All, 100));
        for (manner, percent) in POLITE.iter().chain(&ODD).chain(&WITHOUT_SOCKET) {
            let count = all.iter().filter(|other| *other == manner).count();
            assert_eq!(count, *percent, "{manner:?}");
        }
    }

    #[test]
    fn a_world_with_all_manners_has_all_transports() {
        let all = assigned(7, Manners::All, 30);

        for transport in Transport::ALL {
            assert!(all.iter().any(|manner| manner.transport() == transport), "{transport:?}");
        }
    }

    #[test]
    fn in_a_polite_world_nobody_is_odd() {
        for (manner, _) in ODD.into_iter().chain(WITHOUT_SOCKET) {
            assert!(!assigned(7, Manners::Polite, 100).contains(&manner), "{manner:?}");
        }
    }
}
