//! The handshakes in progress, with their bounds.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, PoisonError};

use nightdesk_types::limits::{HANDSHAKES_MAX, HANDSHAKES_PER_ADDRESS_MAX};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Counts the handshakes in progress, in total and by address.
#[derive(Debug)]
pub(super) struct Handshakes {
    places: Arc<Semaphore>,
    by_address: Arc<Mutex<HashMap<IpAddr, usize>>>,
}

/// The right to accept one more connection. `None` if the places were closed, which never happens.
pub(super) type HandshakeTurn = Option<OwnedSemaphorePermit>;

/// A handshake in progress. Dropping it frees its place.
#[derive(Debug)]
pub(super) struct HandshakePlace {
    address: IpAddr,
    by_address: Arc<Mutex<HashMap<IpAddr, usize>>>,
    _turn: HandshakeTurn,
}

impl Default for Handshakes {
    fn default() -> Self {
        Self { places: Arc::new(Semaphore::new(HANDSHAKES_MAX)), by_address: Arc::default() }
    }
}

impl Handshakes {
    /// Waits until fewer than [`HANDSHAKES_MAX`] handshakes are in progress. Each of them ends in time, so the wait has
    /// a bound.
    pub(super) async fn wait_for_turn(&self) -> HandshakeTurn {
        Arc::clone(&self.places).acquire_owned().await.ok()
    }

    /// Begins a handshake. `None`: the address has [`HANDSHAKES_PER_ADDRESS_MAX`] in progress.
    pub(super) fn begin(&self, turn: HandshakeTurn, from: IpAddr) -> Option<HandshakePlace> {
        let address = network(from);
        let mut counts = self.by_address.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.entry(address).or_insert(0);
        if *count >= HANDSHAKES_PER_ADDRESS_MAX {
            return None;
        }
        *count += 1;
        Some(HandshakePlace { address, by_address: Arc::clone(&self.by_address), _turn: turn })
    }
}

impl Drop for HandshakePlace {
    fn drop(&mut self) {
        let mut counts = self.by_address.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = counts.get_mut(&self.address) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                counts.remove(&self.address);
            }
        }
    }
}

/// The bits of an IPv6 address that a client usually chooses itself.
const HOST_BITS: u32 = 64;

/// Returns an address as it is counted: for IPv6, the network.
const fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => IpAddr::V4(address),
        IpAddr::V6(address) => {
            IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() >> HOST_BITS << HOST_BITS))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use futures_util::FutureExt;

    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    fn begun(handshakes: &Handshakes, from: &str) -> Option<HandshakePlace> {
        let turn = handshakes.wait_for_turn().now_or_never().flatten()?;
        handshakes.begin(Some(turn), address(from))
    }

    #[test]
    fn an_address_has_its_share_of_the_places_and_gets_them_back() {
        let handshakes = Handshakes::default();
        let all: Vec<_> =
            (0..HANDSHAKES_PER_ADDRESS_MAX).map(|_| begun(&handshakes, "192.0.2.1")).collect();

        assert!(all.iter().all(Option::is_some));
        assert!(begun(&handshakes, "192.0.2.1").is_none());
        assert!(begun(&handshakes, "::ffff:192.0.2.1").is_none(), "the same address");
        assert!(begun(&handshakes, "192.0.2.2").is_some(), "another address");
        drop(all);
        assert!(begun(&handshakes, "192.0.2.1").is_some());
        assert!(handshakes.by_address.lock().unwrap().is_empty(), "an idle address costs nothing");
    }

    #[test]
    fn an_ipv6_network_counts_as_one_address() {
        assert_eq!(network(address("2001:db8::1")), network(address("2001:db8::ffff:1")));
        assert_ne!(network(address("2001:db8::1")), network(address("2001:db8:0:1::1")));
    }

    #[test]
    fn a_node_has_so_many_handshakes_in_progress() {
        let handshakes = Handshakes::default();
        let count = u32::try_from(HANDSHAKES_MAX).unwrap();
        let all: Vec<_> = (0..count)
            .map(|number| Ipv4Addr::from_bits(number).to_string())
            .map(|from| begun(&handshakes, &from))
            .collect();

        assert!(all.iter().all(Option::is_some));
        assert!(begun(&handshakes, "192.0.2.1").is_none());
        drop(all);
        assert!(begun(&handshakes, "192.0.2.1").is_some());
    }
}
