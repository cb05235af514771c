//! Pace: how often a host, an address and a tenant's URLs are called, and how many at a time.
//!
//! Without it a tenant could turn the desk against anybody whose name it knows.

use std::collections::BTreeMap;
use std::hash::Hash;
use std::net::{IpAddr, Ipv6Addr};
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::{Duration, Instant};

use governor::clock::Clock;
use governor::middleware::NoOpMiddleware;
use governor::state::keyed::HashMapStateStore;
use governor::state::{InMemoryState, NotKeyed};
use governor::{NotUntil, Quota, RateLimiter};
use nightdesk_types::TenantId;
use nightdesk_types::limits::{
    OUTSIDE_ADDRESS_PER_SECOND, OUTSIDE_HOST_PER_SECOND, OUTSIDE_NO_ROOM_WAIT, OUTSIDE_PACED_MAX,
    OUTSIDE_TENANT_AT_ONCE_MAX, OUTSIDE_TENANT_PER_SECOND,
};

use crate::places::{Place, Places};
use crate::rules::HostRate;

/// Every rate of this node.
#[derive(Debug)]
pub(crate) struct Pace {
    hosts: Keyed<String>,
    addresses: Keyed<IpAddr>,
    tenants: Keyed<TenantId>,
    raised: BTreeMap<String, Raised>,
    places: Arc<Places>,
}

/// A host whose rate the operator set.
#[derive(Debug)]
struct Raised {
    limiter: RateLimiter<NotKeyed, InMemoryState, RuntimeClock, NoOpMiddleware<Instant>>,
    at_once: u32,
}

impl Pace {
    pub(crate) fn new(rates: &BTreeMap<String, HostRate>) -> Self {
        const HOST: NonZeroU32 = NonZeroU32::new(OUTSIDE_HOST_PER_SECOND).unwrap();
        const ADDRESS: NonZeroU32 = NonZeroU32::new(OUTSIDE_ADDRESS_PER_SECOND).unwrap();
        const TENANT: NonZeroU32 = NonZeroU32::new(OUTSIDE_TENANT_PER_SECOND).unwrap();
        let raised = rates.iter().map(|(host, rate)| (host.clone(), Raised::new(*rate)));
        Self {
            hosts: Keyed::new(Quota::per_second(HOST), OUTSIDE_PACED_MAX),
            addresses: Keyed::new(Quota::per_second(ADDRESS), OUTSIDE_PACED_MAX),
            tenants: Keyed::new(Quota::per_second(TENANT), OUTSIDE_PACED_MAX),
            raised: raised.collect(),
            places: Arc::default(),
        }
    }

    /// Takes a place for one call, or says how long to wait. The place is free again when dropped.
    pub(crate) fn enter(&self, tenant: TenantId, host: &str) -> Result<Place, Duration> {
        if let Some(raised) = self.raised.get(host) {
            let place = self.places.take((tenant, Some(host.to_owned())), raised.at_once);
            let place = place.ok_or(OUTSIDE_NO_ROOM_WAIT)?;
            return raised.limiter.check().map_err(wait).map(|()| place);
        }
        let place = self.places.take((tenant, None), OUTSIDE_TENANT_AT_ONCE_MAX);
        let place = place.ok_or(OUTSIDE_NO_ROOM_WAIT)?;
        // The host first: agents that wait for a busy one use up nothing of their tenant's.
        self.hosts.count(&host.to_owned())?;
        self.tenants.count(&tenant)?;
        Ok(place)
    }

    /// Counts a dial, or says how long to wait.
    pub(crate) fn dial(&self, host: &str, address: IpAddr) -> Result<(), Duration> {
        if self.raised.contains_key(host) {
            return Ok(());
        }
        self.addresses.count(&neighbourhood(address))
    }
}

impl Raised {
    fn new(rate: HostRate) -> Self {
        let limiter =
            RateLimiter::direct_with_clock(Quota::per_second(rate.per_second), RuntimeClock);
        Self { limiter, at_once: rate.at_once.get() }
    }
}

/// One machine has a whole /64 to be called at.
fn neighbourhood(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(v6) => IpAddr::V6(Ipv6Addr::from_bits(v6.to_bits() & !u128::from(u64::MAX))),
        v4 @ IpAddr::V4(_) => v4,
    }
}

/// The runtime's clock, which tests can stop.
#[derive(Clone, Copy, Debug)]
struct RuntimeClock;

impl Clock for RuntimeClock {
    type Instant = Instant;

    fn now(&self) -> Instant {
        tokio::time::Instant::now().into_std()
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it stands in `map_err`")]
fn wait(until: NotUntil<Instant>) -> Duration {
    until.wait_time_from(RuntimeClock.now())
}

/// A rate for each of so many.
#[derive(Debug)]
struct Keyed<K: Hash + Eq + Clone> {
    limiter: RateLimiter<K, HashMapStateStore<K>, RuntimeClock, NoOpMiddleware<Instant>>,
    keys_max: usize,
}

impl<K: Hash + Eq + Clone> Keyed<K> {
    fn new(quota: Quota, keys_max: usize) -> Self {
        let limiter = RateLimiter::new(quota, HashMapStateStore::default(), RuntimeClock);
        Self { limiter, keys_max }
    }

    fn count(&self, key: &K) -> Result<(), Duration> {
        if self.limiter.len() >= self.keys_max {
            // Those who were left alone long enough are as good as new.
            self.limiter.retain_recent();
            if self.limiter.len() >= self.keys_max {
                return Err(OUTSIDE_NO_ROOM_WAIT);
            }
        }
        self.limiter.check_key(key).map_err(wait)
    }
}

#[cfg(test)]
mod tests;
