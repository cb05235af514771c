//! Resolves names to addresses.

use std::net::{IpAddr, SocketAddr};

use hickory_resolver::config::{LookupIpStrategy, NameServerConfig, ResolverConfig, ResolverOpts};
use hickory_resolver::net::NetError;
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::proto::rr::Name;
use hickory_resolver::{ResolverBuilder, TokioResolver};
use nightdesk_types::limits::{
    OUTSIDE_LOOK_UP_WAIT, OUTSIDE_NAME_KEPT_FOR, OUTSIDE_NAMES_KEPT_MAX,
};

/// Queries name servers.
#[derive(Debug)]
pub(crate) struct NameResolver(TokioResolver);

impl NameResolver {
    /// Uses this name server, or those of the machine.
    pub(crate) fn new(nameserver: Option<SocketAddr>) -> Result<Self, NetError> {
        match nameserver {
            Some(address) => Self::from_config(server_config(address, Vec::new())),
            None => Self::build(TokioResolver::builder_tokio()?),
        }
    }

    fn from_config(config: ResolverConfig) -> Result<Self, NetError> {
        let provider = TokioRuntimeProvider::default();
        Self::build(TokioResolver::builder_with_config(config, provider))
    }

    fn build(mut builder: ResolverBuilder<TokioRuntimeProvider>) -> Result<Self, NetError> {
        set_bounds(builder.options_mut());
        builder.build().map(Self)
    }

    /// Returns all addresses of a name, of both families. At least one.
    pub(crate) async fn look_up(&self, name: &str) -> Result<Vec<IpAddr>, NetError> {
        // The trailing dot makes the name absolute, so the machine's search domains do not apply.
        let found = self.0.lookup_ip(format!("{name}.")).await?;
        let addresses: Vec<IpAddr> = found.iter().collect();
        if addresses.is_empty() {
            return Err(NetError::Message("the name has no address"));
        }
        Ok(addresses)
    }
}

/// Queries this name server; names without a trailing dot may be in these domains.
fn server_config(address: SocketAddr, domains: Vec<Name>) -> ResolverConfig {
    let mut server = NameServerConfig::udp_and_tcp(address.ip());
    for connection in &mut server.connections {
        connection.port = address.port();
    }
    ResolverConfig::from_parts(None, domains, vec![server])
}

fn set_bounds(options: &mut ResolverOpts) {
    options.timeout = OUTSIDE_LOOK_UP_WAIT;
    options.attempts = 1;
    options.ip_strategy = LookupIpStrategy::Ipv4AndIpv6;
    options.cache_size = OUTSIDE_NAMES_KEPT_MAX;
    options.positive_max_ttl = Some(OUTSIDE_NAME_KEPT_FOR);
    options.negative_max_ttl = Some(OUTSIDE_NAME_KEPT_FOR);
}

#[cfg(test)]
mod tests {
    use hickory_resolver::proto::op::{Message, ResponseCode};
    use tokio::net::UdpSocket;

    use super::*;

    /// Answers that no name exists, and records the queried names.
    async fn deny(socket: UdpSocket, asked: &mut Vec<String>) {
        let mut datagram = [0; 512];
        while let Ok((length, from)) = socket.recv_from(&mut datagram).await {
            let mut message = Message::from_vec(&datagram[..length]).expect("a question");
            asked.extend(message.queries.iter().map(|query| query.name.to_lowercase().to_ascii()));
            message.metadata.response_code = ResponseCode::NXDomain;
            let reply = message.into_response().to_vec().expect("a message");
            socket.send_to(&reply, from).await.expect("somebody waits");
        }
    }

    #[tokio::test]
    async fn a_name_is_not_looked_for_in_the_machines_own_domain() {
        let socket = UdpSocket::bind("127.0.0.1:0").await.expect("a free port");
        let domain = Name::from_ascii("inside.example.").expect("a name");
        let config = server_config(socket.local_addr().expect("a bound port"), vec![domain]);
        let names = NameResolver::from_config(config).expect("a name server");
        let mut asked = Vec::new();

        tokio::select! {
            found = names.look_up("agents.test") => assert!(found.is_err(), "{found:?}"),
            () = deny(socket, &mut asked) => {}
        }
        assert!(asked.len() >= 2 && asked.iter().all(|name| name == "agents.test."), "{asked:?}");
    }
}
