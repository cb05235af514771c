//! Names: which addresses a name stands for.

use std::net::{IpAddr, SocketAddr};

use hickory_resolver::TokioResolver;
use hickory_resolver::config::{LookupIpStrategy, NameServerConfig, ResolverConfig, ResolverOpts};
use hickory_resolver::net::NetError;
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use nightdesk_types::limits::{
    OUTSIDE_LOOK_UP_WAIT, OUTSIDE_NAME_KEPT_FOR, OUTSIDE_NAMES_KEPT_MAX,
};

/// Asks name servers.
#[derive(Debug)]
pub(crate) struct Names(TokioResolver);

impl Names {
    /// With this name server, or with those of the machine.
    pub(crate) fn new(nameserver: Option<SocketAddr>) -> Result<Self, NetError> {
        let mut builder = match nameserver {
            Some(address) => {
                TokioResolver::builder_with_config(only(address), TokioRuntimeProvider::default())
            }
            None => TokioResolver::builder_tokio()?,
        };
        bound(builder.options_mut());
        builder.build().map(Self)
    }

    /// Every address of a name, both kinds. At least one.
    pub(crate) async fn look_up(&self, name: &str) -> Result<Vec<IpAddr>, NetError> {
        // With a dot at its end: a name is what it says, and not one of the machine's own domain.
        let found = self.0.lookup_ip(format!("{name}.")).await?;
        let addresses: Vec<IpAddr> = found.iter().collect();
        if addresses.is_empty() {
            return Err(NetError::Message("the name has no address"));
        }
        Ok(addresses)
    }
}

fn only(address: SocketAddr) -> ResolverConfig {
    let mut server = NameServerConfig::udp_and_tcp(address.ip());
    for connection in &mut server.connections {
        connection.port = address.port();
    }
    ResolverConfig::from_parts(None, Vec::new(), vec![server])
}

fn bound(options: &mut ResolverOpts) {
    options.timeout = OUTSIDE_LOOK_UP_WAIT;
    options.attempts = 1;
    options.ip_strategy = LookupIpStrategy::Ipv4AndIpv6;
    options.cache_size = OUTSIDE_NAMES_KEPT_MAX;
    options.positive_max_ttl = Some(OUTSIDE_NAME_KEPT_FOR);
    options.negative_max_ttl = Some(OUTSIDE_NAME_KEPT_FOR);
}
