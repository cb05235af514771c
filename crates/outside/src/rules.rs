//! Rules: what the operator's configuration, and nothing else, allows besides public https.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::num::NonZeroU32;
use std::path::PathBuf;

use ipnet::IpNet;
use nightdesk_types::limits::OUTSIDE_TENANT_AT_ONCE_MAX;
use serde::Deserialize;

use crate::address;
use crate::client::SetUpError;
use crate::refused::Refused;
use crate::tenant_url::Host;

/// What tenants may name besides public https on port 443. Since 0.1.
///
/// Whatever is allowed here is allowed to every tenant.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Rules {
    /// Hosts that may be at any address, by their exact names: `["agents.lan", "192.168.1.20"]`.
    /// Whoever answers for such a name in your name service decides where the desk connects to.
    pub hosts: Vec<String>,
    /// Addresses that may be called though they are not public: `["192.168.1.0/24"]`.
    pub ranges: Vec<IpNet>,
    /// Whether `http://` may be called too. Bearer tokens then travel in the clear.
    pub http: bool,
    /// Ports besides 443, and 80 if http may be called: `[8443]`.
    pub ports: Vec<u16>,
    /// Addresses of your own that are never called, also if one of `ranges` has them: a public
    /// address that leads back to this network, say. Those of this machine are known without.
    pub own: Vec<IpAddr>,
    /// Higher rates, by host: `[outside.rates."agents.example"]`.
    pub rates: BTreeMap<String, HostRate>,
    /// A file with certificates (PEM) that are trusted besides the usual roots.
    pub root_certificate_file: Option<PathBuf>,
    /// The name server to ask. Without it, those of the machine.
    pub nameserver: Option<SocketAddr>,
}

/// How often one host may be called. It stands in place of every other rate for that host, so that
/// thousands of agents can live behind it. Since 0.1.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostRate {
    /// Calls in a second, of all tenants together.
    pub per_second: NonZeroU32,
    /// Calls of one tenant to it at a time.
    #[serde(default = "HostRate::usual_at_once")]
    pub at_once: NonZeroU32,
}

impl Rules {
    /// Finds hosts that are not written as they stand in a URL, and so would never be met.
    pub(crate) fn check_names(&self) -> Result<(), SetUpError> {
        let mut hosts = self.hosts.iter().chain(self.rates.keys());
        let strange =
            hosts.find(|host| Host::parse(host).is_none_or(|read| read.to_string() != **host));
        strange.map_or(Ok(()), |host| Err(SetUpError::Host(host.clone())))
    }

    pub(crate) fn check_port(&self, port: u16) -> Result<(), Refused> {
        let usual = port == 443 || (self.http && port == 80);
        if usual || self.ports.contains(&port) { Ok(()) } else { Err(Refused::Port(port)) }
    }

    /// Looks at all of a host that can be judged without a look-up.
    pub(crate) fn check_host(&self, host: &Host) -> Result<(), Refused> {
        match host {
            Host::Literal(address) => self.check_address(host, *address),
            Host::Name(_) if self.vouches_for(host) => Ok(()),
            Host::Name(name) if name.ends_with('.') || !name.contains('.') => {
                Err(Refused::NotAFullName)
            }
            Host::Name(_) => Ok(()),
        }
    }

    /// Looks at all addresses to which the host led. One that may not be called spoils them all:
    /// whoever answers for the name chose to give it.
    pub(crate) fn check_addresses(&self, host: &Host, all: &[IpAddr]) -> Result<(), Refused> {
        all.iter().try_for_each(|address| self.check_address(host, *address))
    }

    /// Looks at one address to which the host led, or which it is.
    pub(crate) fn check_address(&self, host: &Host, address: IpAddr) -> Result<(), Refused> {
        if !host.is_guarded() {
            return Ok(());
        }
        let reached = address::reached(address);
        if reached.iter().any(|address| self.own.contains(address)) {
            return Err(Refused::Ourselves);
        }
        if self.vouches_for(host) {
            return Ok(());
        }
        reached.into_iter().try_for_each(|address| self.check_public(address))
    }

    /// Whether the operator named this host, or the range its address is in.
    pub(crate) fn names(&self, host: &Host, address: IpAddr) -> bool {
        self.vouches_for(host) || self.has_range(address)
    }

    fn check_public(&self, address: IpAddr) -> Result<(), Refused> {
        match address::special(address) {
            Some(special) if !self.has_range(address) => Err(Refused::NotPublic(special)),
            Some(_) | None => Ok(()),
        }
    }

    fn vouches_for(&self, host: &Host) -> bool {
        let host = host.to_string();
        self.hosts.contains(&host)
    }

    fn has_range(&self, address: IpAddr) -> bool {
        self.ranges.iter().any(|range| range.contains(&address))
    }
}

impl HostRate {
    const fn usual_at_once() -> NonZeroU32 {
        const USUAL: NonZeroU32 = NonZeroU32::new(OUTSIDE_TENANT_AT_ONCE_MAX).unwrap();
        USUAL
    }
}

#[cfg(test)]
mod tests;
