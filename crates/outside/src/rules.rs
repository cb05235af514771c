//! The operator's rules: the only way to allow more than public https.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::num::NonZeroU32;
use std::path::PathBuf;

use ipnet::IpNet;
use nightdesk_types::limits::OUTSIDE_TENANT_AT_ONCE_MAX;
use serde::Deserialize;

use crate::address;
use crate::host::Host;
use crate::refusal::UrlRefusal;

/// URLs that tenants may set besides public https on port 443. Since 0.1.
///
/// A permission applies to every tenant.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Rules {
    /// Hosts that may be at any address, by their exact names: `["agents.lan", "192.168.1.20"]`. The name service that
    /// answers for such a name decides where the desk connects to.
    pub hosts: Vec<String>,
    /// Addresses that may be called though they are not public: `["192.168.1.0/24"]`.
    pub ranges: Vec<IpNet>,
    /// True if `http://` may be called too. Bearer tokens are then sent unencrypted.
    pub http: bool,
    /// Ports besides 443, and besides 80 if http is allowed: `[8443]`.
    pub ports: Vec<u16>,
    /// Own addresses that are never called, even if one of `ranges` contains them, such as a public address that leads
    /// back to this network. This machine's addresses are known without it.
    pub own: Vec<IpAddr>,
    /// Higher rates, by host: `[outside.rates."agents.example"]`.
    pub rates: BTreeMap<String, HostRate>,
    /// A file with certificates (PEM) that are trusted besides the usual roots.
    pub root_certificate_file: Option<PathBuf>,
    /// The name server. Without it, those of the machine.
    pub nameserver: Option<SocketAddr>,
}

/// The rate of one host. It replaces every other rate for that host, so that thousands of agents can share it. Since
/// 0.1.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostRate {
    /// Calls per second, of all tenants together.
    pub per_second: NonZeroU32,
    /// Concurrent calls of one tenant to it.
    #[serde(default = "HostRate::usual_at_once")]
    pub at_once: NonZeroU32,
}

/// The reason that the operator's rules are invalid.
#[derive(Debug, thiserror::Error)]
pub enum SetUpError {
    /// A host in the rules has a spelling that no parsed URL has.
    #[error("outside: {0:?} is not a host of a URL; write it in lower case, without port or path")]
    Host(String),
    /// The file with the operator's roots cannot be used.
    #[error("outside.root_certificate_file: could not read certificates (PEM) from {}", .0.display())]
    Roots(PathBuf, #[source] Box<dyn std::error::Error + Send + Sync>),
    /// No name server is configured.
    #[error("could not read /etc/resolv.conf; fix it, or set outside.nameserver")]
    NameServers(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl Rules {
    /// Finds hosts that are not in the spelling of a parsed URL, and so would never match.
    pub(crate) fn check_names(&self) -> Result<(), SetUpError> {
        let mut hosts = self.hosts.iter().chain(self.rates.keys());
        let strange =
            hosts.find(|host| Host::parse(host).is_none_or(|read| read.to_string() != **host));
        strange.map_or(Ok(()), |host| Err(SetUpError::Host(host.clone())))
    }

    pub(crate) fn check_port(&self, port: u16) -> Result<(), UrlRefusal> {
        let usual = port == 443 || (self.http && port == 80);
        if usual || self.ports.contains(&port) { Ok(()) } else { Err(UrlRefusal::Port(port)) }
    }

    /// Checks everything about a host that needs no lookup.
    pub(crate) fn check_host(&self, host: &Host) -> Result<(), UrlRefusal> {
        match host {
            Host::Literal(address) => self.check_address(host, *address),
            Host::Name(_) if self.allows_host(host) => Ok(()),
            Host::Name(name) if name.ends_with('.') || !name.contains('.') => {
                Err(UrlRefusal::NotAFullName)
            }
            Host::Name(_) => Ok(()),
        }
    }

    /// Checks all addresses of the host. One forbidden address rejects them all, because the name's owner chose to
    /// return it.
    pub(crate) fn check_addresses(&self, host: &Host, all: &[IpAddr]) -> Result<(), UrlRefusal> {
        all.iter().try_for_each(|address| self.check_address(host, *address))
    }

    /// Checks one address of the host, or the host if it is an address.
    pub(crate) fn check_address(&self, host: &Host, address: IpAddr) -> Result<(), UrlRefusal> {
        let reached = address::destinations(address);
        if reached.iter().any(|address| self.own.contains(address)) {
            return Err(UrlRefusal::Ourselves);
        }
        if self.allows_host(host) {
            return Ok(());
        }
        reached.into_iter().try_for_each(|address| self.check_public(address))
    }

    /// Returns true if the rules name this host, or the range of its address.
    pub(crate) fn has_rule_for(&self, host: &Host, address: IpAddr) -> bool {
        self.allows_host(host) || self.has_range(address)
    }

    fn check_public(&self, address: IpAddr) -> Result<(), UrlRefusal> {
        match address::special_range(address) {
            Some(special) if !self.has_range(address) => Err(UrlRefusal::NotPublic(special)),
            Some(_) | None => Ok(()),
        }
    }

    fn allows_host(&self, host: &Host) -> bool {
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
