//! Limits the rate and the concurrency of calls per host, address and tenant.
//!
//! Without it a tenant could use the desk to attack any server whose name it knows.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use nightdesk_types::limits::{
    OUTSIDE_ADDRESS_PER_SECOND, OUTSIDE_HOST_PER_SECOND, OUTSIDE_NO_ROOM_WAIT, OUTSIDE_PACED_MAX,
    OUTSIDE_TENANT_AT_ONCE_MAX, OUTSIDE_TENANT_PER_SECOND, TRUSTED_AT_ONCE_MAX,
    TRUSTED_HOST_PER_SECOND, TRUSTED_PER_SECOND, WEBHOOK_HOST_PER_SECOND,
    WEBHOOK_TENANT_AT_ONCE_MAX, WEBHOOK_TENANT_PER_SECOND,
};
use nightdesk_types::rate_limit::{Rate, RateLimiter, neighbourhood};
use nightdesk_types::{Moment, TenantId};
use tokio::time::Instant;

use crate::permits::{OutsidePermit, PermitPool};
use crate::rules::HostRate;

const SECOND: Duration = Duration::from_secs(1);
const ADDRESS: Rate = Rate::per(SECOND, OUTSIDE_ADDRESS_PER_SECOND);
const TRUSTED_HOST: Rate = Rate::per(SECOND, TRUSTED_HOST_PER_SECOND);

/// The rates of one kind of request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RequestRates {
    host: Rate,
    address: Rate,
    tenant: Rate,
    tenant_at_once: u32,
}

/// The rates of calls.
pub(crate) const CALL_RATES: RequestRates = RequestRates {
    host: Rate::per(SECOND, OUTSIDE_HOST_PER_SECOND),
    address: ADDRESS,
    tenant: Rate::per(SECOND, OUTSIDE_TENANT_PER_SECOND),
    tenant_at_once: OUTSIDE_TENANT_AT_ONCE_MAX,
};

/// The rates of posts of entries.
pub(crate) const POST_RATES: RequestRates = RequestRates {
    host: Rate::per(SECOND, WEBHOOK_HOST_PER_SECOND),
    address: ADDRESS,
    tenant: Rate::per(SECOND, WEBHOOK_TENANT_PER_SECOND),
    tenant_at_once: WEBHOOK_TENANT_AT_ONCE_MAX,
};

/// The rates of calls to hosts that the operator trusts. All of them are calls of one tenant.
pub(crate) const TRUSTED_RATES: RequestRates = RequestRates {
    host: TRUSTED_HOST,
    address: TRUSTED_HOST,
    tenant: Rate::per(SECOND, TRUSTED_PER_SECOND),
    tenant_at_once: TRUSTED_AT_ONCE_MAX,
};

/// All rates of this node.
#[derive(Debug)]
pub(crate) struct CallLimits {
    hosts: RateLimiter<String>,
    addresses: RateLimiter<IpAddr>,
    tenants: RateLimiter<TenantId>,
    rates: RequestRates,
    raised: BTreeMap<String, HostRate>,
    places: Arc<PermitPool>,
    /// By the runtime's clock, which tests can stop.
    began: Instant,
}

impl CallLimits {
    pub(crate) fn new(raised: &BTreeMap<String, HostRate>, rates: RequestRates) -> Self {
        Self {
            hosts: RateLimiter::new(OUTSIDE_PACED_MAX),
            addresses: RateLimiter::new(OUTSIDE_PACED_MAX),
            tenants: RateLimiter::new(OUTSIDE_PACED_MAX),
            rates,
            raised: raised.clone(),
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
        let place = self.places.take((tenant, None), self.rates.tenant_at_once);
        let place = place.ok_or(OUTSIDE_NO_ROOM_WAIT)?;
        // The host is checked first: calls that wait for a busy host use up nothing of their tenant's rate.
        self.hosts.take(host.to_owned(), self.rates.host, self.now())?;
        self.tenants.take(tenant, self.rates.tenant, self.now())?;
        Ok(place)
    }

    /// Counts a dial, or returns the time to wait.
    pub(crate) fn dial(&self, host: &str, address: IpAddr) -> Result<(), Duration> {
        if self.raised.contains_key(host) {
            return Ok(());
        }
        self.addresses.take(neighbourhood(address), self.rates.address, self.now())
    }
}

#[cfg(test)]
mod tests;
