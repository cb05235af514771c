//! The open connections whose clients have proved nothing.
//!
//! Many clients may share an address: a proxy's, or that of a provider's router. So a full address refuses no new
//! connection. It closes its oldest unproven one instead: a genuine client proves itself within moments, and only a
//! connection that waits without a proof grows old. Proven connections are never closed here.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use nightdesk_line::ConnectionProof;
use nightdesk_types::limits::{UNPROVEN_CONNECTIONS_MAX, UNPROVEN_PER_ADDRESS_MAX};
use tokio_util::sync::CancellationToken;

/// The bits of an IPv6 address that a provider assigns to one client.
const IPV6_CLIENT_BITS: u32 = 64;

/// The unproven connections of a listener.
#[derive(Clone, Debug, Default)]
pub(super) struct UnprovenConnections(Arc<Mutex<ConnectionTable>>);

impl UnprovenConnections {
    /// Adds a connection, and closes the oldest ones that are too many.
    pub(super) fn enter(&self, address: IpAddr, proof: ConnectionProof) -> UnprovenConnection {
        let closing = CancellationToken::new();
        let open = OpenConnection { client: client_of(address), proof, closing: closing.clone() };
        let number = self.lock().enter(open);
        UnprovenConnection { table: self.clone(), number, closing }
    }

    /// Closes the oldest unproven connections, up to this number.
    pub(super) fn close_oldest(&self, connections_max: usize) {
        let mut table = self.lock();
        table.remove_proven();
        for _ in 0..connections_max {
            table.close_oldest();
        }
    }

    fn lock(&self) -> MutexGuard<'_, ConnectionTable> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A connection in the table. It leaves the table when it is dropped.
#[derive(Debug)]
pub(super) struct UnprovenConnection {
    table: UnprovenConnections,
    number: u64,
    /// Cancelled when the connection has to make room.
    pub(super) closing: CancellationToken,
}

impl Drop for UnprovenConnection {
    fn drop(&mut self) {
        self.table.lock().remove(self.number);
    }
}

#[derive(Debug)]
struct OpenConnection {
    client: IpAddr,
    proof: ConnectionProof,
    closing: CancellationToken,
}

/// Connections by their number, which rises with their age, and the numbers of each client. Proven ones are removed when
/// a bound is reached.
#[derive(Debug, Default)]
struct ConnectionTable {
    next: u64,
    open: BTreeMap<u64, OpenConnection>,
    by_client: HashMap<IpAddr, BTreeSet<u64>>,
}

impl ConnectionTable {
    fn enter(&mut self, connection: OpenConnection) -> u64 {
        let client = connection.client;
        let is_full = |table: &Self| table.count_of(client) >= UNPROVEN_PER_ADDRESS_MAX;
        if is_full(self) || self.open.len() >= UNPROVEN_CONNECTIONS_MAX {
            self.remove_proven();
        }
        if is_full(self) {
            let oldest = self.by_client.get(&client).and_then(BTreeSet::first).copied();
            if let Some(oldest) = oldest {
                self.close(oldest);
            }
        } else if self.open.len() >= UNPROVEN_CONNECTIONS_MAX {
            self.close_oldest();
        }
        let number = self.next;
        self.next += 1;
        self.by_client.entry(client).or_default().insert(number);
        self.open.insert(number, connection);
        number
    }

    fn count_of(&self, client: IpAddr) -> usize {
        self.by_client.get(&client).map_or(0, BTreeSet::len)
    }

    fn close_oldest(&mut self) {
        let oldest = self.open.first_key_value().map(|(number, _)| *number);
        if let Some(oldest) = oldest {
            self.close(oldest);
        }
    }

    fn close(&mut self, number: u64) {
        if let Some(connection) = self.remove(number) {
            connection.closing.cancel();
        }
    }

    fn remove_proven(&mut self) {
        let proven: Vec<u64> = self
            .open
            .iter()
            .filter(|(_, connection)| connection.proof.is_recorded())
            .map(|(number, _)| *number)
            .collect();
        for number in proven {
            self.remove(number);
        }
    }

    fn remove(&mut self, number: u64) -> Option<OpenConnection> {
        let connection = self.open.remove(&number)?;
        if let Some(numbers) = self.by_client.get_mut(&connection.client) {
            numbers.remove(&number);
            if numbers.is_empty() {
                self.by_client.remove(&connection.client);
            }
        }
        Some(connection)
    }
}

/// Returns the address that stands for a client: of IPv6, the network that a provider assigns.
fn client_of(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => IpAddr::V4(address),
        IpAddr::V6(address) => {
            let mask = u128::MAX << (Ipv6Addr::BITS - IPV6_CLIENT_BITS);
            IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & mask))
        }
    }
}

#[cfg(test)]
mod tests {
    use axum::http::Extensions;

    use super::*;

    fn address(number: u32) -> IpAddr {
        IpAddr::V4(number.into())
    }

    /// Opens connections whose clients prove nothing.
    fn open(table: &UnprovenConnections, from: IpAddr, count: usize) -> Vec<UnprovenConnection> {
        (0..count).map(|_| table.enter(from, ConnectionProof::default())).collect()
    }

    fn proven() -> ConnectionProof {
        let (proof, mut extensions) = (ConnectionProof::default(), Extensions::new());
        extensions.insert(proof.clone());
        ConnectionProof::record_in(&extensions);
        proof
    }

    fn closed(connections: &[UnprovenConnection]) -> usize {
        connections.iter().take_while(|connection| connection.closing.is_cancelled()).count()
    }

    #[test]
    fn a_full_address_closes_its_own_oldest_connection() {
        let table = UnprovenConnections::default();
        let other = open(&table, address(2), 1);
        let crowd = open(&table, address(1), UNPROVEN_PER_ADDRESS_MAX);
        assert_eq!(closed(&crowd), 0, "at the limit");

        let late = open(&table, address(1), 2);
        assert_eq!((closed(&crowd), closed(&late), closed(&other)), (2, 0, 0));
    }

    #[test]
    fn a_proven_connection_is_never_closed_and_takes_no_place() {
        let table = UnprovenConnections::default();
        let genuine: Vec<_> = (0..10).map(|_| table.enter(address(1), proven())).collect();
        let crowd = open(&table, address(1), UNPROVEN_PER_ADDRESS_MAX + 3);

        assert_eq!((closed(&genuine), closed(&crowd)), (0, 3));
    }

    #[test]
    fn a_full_node_closes_its_oldest_connection() {
        let table = UnprovenConnections::default();
        let numbers = 0..u32::try_from(UNPROVEN_CONNECTIONS_MAX).unwrap();
        let crowd: Vec<_> = numbers.flat_map(|number| open(&table, address(number), 1)).collect();
        assert_eq!(closed(&crowd), 0, "at the limit");

        let late = open(&table, address(u32::MAX), 1);
        assert_eq!((closed(&crowd), closed(&late)), (1, 0));
    }

    #[test]
    fn a_connection_that_ended_takes_no_place() {
        let table = UnprovenConnections::default();
        drop(open(&table, address(1), UNPROVEN_PER_ADDRESS_MAX));
        let crowd = open(&table, address(1), UNPROVEN_PER_ADDRESS_MAX);

        assert_eq!(closed(&crowd), 0);
        drop(crowd);
        assert!(table.lock().by_client.is_empty(), "nothing is left of them");
    }

    #[test]
    fn the_oldest_make_room_when_descriptors_run_out() {
        let table = UnprovenConnections::default();
        let genuine = table.enter(address(1), proven());
        let crowd = open(&table, address(1), 5);
        table.close_oldest(3);

        assert_eq!(closed(&crowd), 3);
        assert!(!genuine.closing.is_cancelled());
        table.close_oldest(9);
        assert_eq!(closed(&crowd), 5);
    }

    #[test]
    fn a_network_of_ipv6_is_one_client() {
        let [one, two, other] = ["2001:db8::1", "2001:db8::ffff:1", "2001:db8:0:1::1"];
        let client = |text: &str| client_of(text.parse().unwrap());

        assert_eq!(client(one), client(two));
        assert_ne!(client(one), client(other));
        assert_eq!(client("::ffff:192.0.2.1"), client("192.0.2.1"));
    }
}
