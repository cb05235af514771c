//! The addresses from which gateways dial.
//!
//! A secret that is used from two addresses within a minute may have been stolen. The desk does not refuse the dial,
//! because a laptop may change its network, but logs a warning.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};

use nightdesk_types::limits::{DIALLING_GATEWAYS_MAX, TWO_ADDRESSES_WITHIN};
use nightdesk_types::{GatewayId, Moment};

/// The recent addresses of gateways.
#[derive(Debug, Default)]
pub(crate) struct DialAddresses {
    seen: Mutex<HashMap<GatewayId, (IpAddr, Moment)>>,
}

impl DialAddresses {
    /// Records a dial. Returns true if the gateway was just seen at another address.
    pub(crate) fn is_elsewhere(&self, gateway: GatewayId, address: IpAddr, now: Moment) -> bool {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.len() >= DIALLING_GATEWAYS_MAX {
            seen.retain(|_, (_, at)| now.since(*at) < TWO_ADDRESSES_WITHIN);
        }
        let before = seen.insert(gateway, (address, now));
        before.is_some_and(|(other, at)| other != address && now.since(at) < TWO_ADDRESSES_WITHIN)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use uuid::Uuid;

    use super::*;

    const HOME: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 1));
    const AWAY: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 2));

    fn gateway(number: u128) -> GatewayId {
        GatewayId::from_uuid(Uuid::from_u128(number))
    }

    fn at(secs: u64) -> Moment {
        Moment::after_start(Duration::from_secs(secs))
    }

    #[test]
    fn a_gateway_in_two_places_within_a_minute_is_noticed() {
        let addresses = DialAddresses::default();

        assert!(!addresses.is_elsewhere(gateway(1), HOME, at(0)));
        assert!(!addresses.is_elsewhere(gateway(1), HOME, at(1)), "the same place");
        assert!(!addresses.is_elsewhere(gateway(2), AWAY, at(2)), "another gateway");
        assert!(addresses.is_elsewhere(gateway(1), AWAY, at(60)), "within the minute");
        assert!(!addresses.is_elsewhere(gateway(1), HOME, at(120)), "a minute later");
    }

    #[test]
    fn what_is_old_makes_room() {
        let addresses = DialAddresses::default();
        for number in 0..DIALLING_GATEWAYS_MAX as u128 {
            addresses.is_elsewhere(gateway(number), HOME, at(0));
        }
        addresses.is_elsewhere(gateway(u128::MAX), HOME, at(61));

        assert_eq!(addresses.seen.lock().unwrap().len(), 1);
    }
}
