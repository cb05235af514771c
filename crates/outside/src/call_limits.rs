//! Limits the rate and the concurrency of calls per host, address and tenant.
//!
//! Without it a tenant could use the desk to attack any server whose name it knows.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use nightdesk_types::limits::{
    OUTSIDE_ADDRESS_PER_SECOND, OUTSIDE_HOST_PER_SECOND, OUTSIDE_NO_ROOM_WAIT, OUTSIDE_PACED_MAX,
    OUTSIDE_TENANT_AT_ONCE_MAX, OUTSIDE_TENANT_PER_SECOND,
};
use nightdesk_types::rate_limit::{Rate, RateLimiter, neighbourhood};
use nightdesk_types::{Moment, TenantId};
use tokio::time::Instant;

use crate::permits::{OutsidePermit, PermitPool};
use crate::rules::HostRate;

const SECOND: Duration = Duration::from_secs(1);
const HOST: Rate = Rate::per(SECOND, OUTSIDE_HOST_PER_SECOND);
const ADDRESS: Rate = Rate::per(SECOND, OUTSIDE_ADDRESS_PER_SECOND);
const TENANT: Rate = Rate::per(SECOND, OUTSIDE_TENANT_PER_SECOND);

/// All rates of this node.
#[derive(Debug)]
pub(crate) struct CallLimits {
    hosts: RateLimiter<String>,
    addresses: RateLimiter<IpAddr>,
    tenants: RateLimiter<TenantId>,
    raised: BTreeMap<String, HostRate>,
    places: Arc<PermitPool>,
    /// By the runtime's clock, which tests can stop.
    began: Instant,
}

impl CallLimits {
    pub(crate) fn new(rates: &BTreeMap<String, HostRate>) -> Self {
        Self {
            hosts: RateLimiter::new(OUTSIDE_PACED_MAX),
            addresses: RateLimiter::new(OUTSIDE_PACED_MAX),
            tenants: RateLimiter::new(OUTSIDE_PACED_MAX),
            raised: rates.clone(),
            places: Arc::default(),
            began: Instant::now(),
        }
    }

    fn now(&self) -> Moment {
        Moment::after_start(self.began.elapsed())
    }

    /// Takes a place for one call, or returns the time to wait. Dropping the place frees it.
    pub(crate) fn enter(&self, tenant: TenantId, host: &str) -> Result<OutsidePermit, Duration> {
        if let Some(raised) = self.raised.get(host) {
            let place = self.places.take((tenant, Some(host.to_owned())), raised.at_once.get());
            let place = place.ok_or(OUTSIDE_NO_ROOM_WAIT)?;
            let rate = Rate::per(SECOND, raised.per_second.get());
            return self.hosts.take(host.to_owned(), rate, self.now()).map(|()| place);
        }
        let place = self.places.take((tenant, None), OUTSIDE_TENANT_AT_ONCE_MAX);
        let place = place.ok_or(OUTSIDE_NO_ROOM_WAIT)?;
        // The host is checked first: calls that wait for a busy host use up nothing of their tenant's rate.
        self.hosts.take(host.to_owned(), HOST, self.now())?;
        self.tenants.take(tenant, TENANT, self.now())?;
        Ok(place)
    }

    /// Counts a dial, or returns the time to wait.
    pub(crate) fn dial(&self, host: &str, address: IpAddr) -> Result<(), Duration> {
        if self.raised.contains_key(host) {
            return Ok(());
        }
        self.addresses.take(neighbourhood(address), ADDRESS, self.now())
    }
}

#[cfg(test)]
mod tests;
