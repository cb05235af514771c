//! Connects to exactly the address that was checked.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

use nightdesk_types::limits::OUTSIDE_DIALS_MAX;
use tokio::net::TcpStream;

use crate::call::CallError;
use crate::call_limits::CallLimits;
use crate::host::Host;
use crate::refusal::UrlRefusal;
use crate::resolver::NameResolver;
use crate::rules::Rules;
use crate::tenant_url::TenantUrl;

/// The state that dialling needs.
#[derive(Debug)]
pub(crate) struct Dialler<'a> {
    pub(crate) rules: &'a Rules,
    pub(crate) names: &'a NameResolver,
    pub(crate) pace: &'a CallLimits,
}

impl Dialler<'_> {
    /// Returns all addresses of the host, after each was checked.
    pub(crate) async fn addresses(&self, host: &Host) -> Result<Vec<IpAddr>, CallError> {
        let addresses = match host {
            Host::Literal(address) => vec![*address],
            Host::Name(name) => self.names.look_up(name).await.map_err(CallError::unreachable)?,
        };
        self.rules.check_addresses(host, &addresses)?;
        Ok(addresses)
    }

    /// Connects to one of these addresses: the first that answers, of the first few.
    pub(crate) async fn connect(
        &self,
        url: &TenantUrl,
        addresses: &[IpAddr],
    ) -> Result<TcpStream, CallError> {
        let few = &addresses[..addresses.len().min(OUTSIDE_DIALS_MAX)];
        for address in few {
            self.check_not_ours(url.host(), *address)?;
        }
        let mut failed = io::Error::from(io::ErrorKind::NotFound);
        for address in few {
            match self.connect_one(url, *address).await? {
                Ok(stream) => return Ok(stream),
                Err(error) => failed = error,
            }
        }
        Err(CallError::unreachable(failed))
    }

    async fn connect_one(
        &self,
        url: &TenantUrl,
        address: IpAddr,
    ) -> Result<io::Result<TcpStream>, CallError> {
        let host = url.host();
        let paced = self.pace.dial(&host.to_string(), address);
        paced.map_err(|retry_after| CallError::Busy { retry_after })?;
        let stream = match TcpStream::connect(SocketAddr::new(address, url.port())).await {
            Ok(stream) => stream,
            Err(error) => return Ok(Err(error)),
        };
        self.check_peer(host, address, &stream)?;
        Ok(Ok(stream))
    }

    /// Checks the real peer address before anything is sent.
    fn check_peer(
        &self,
        host: &Host,
        dialled: IpAddr,
        stream: &TcpStream,
    ) -> Result<(), CallError> {
        let peer = stream.peer_addr().map_err(CallError::unreachable)?.ip();
        self.rules.check_address(host, peer)?;
        if peer == dialled {
            Ok(())
        } else {
            Err(CallError::unreachable("the peer has another address"))
        }
    }

    /// Refuses this machine's own addresses, unless the operator's rules name them.
    fn check_not_ours(&self, host: &Host, address: IpAddr) -> Result<(), UrlRefusal> {
        if !self.rules.has_rule_for(host, address) && is_ours(address) {
            Err(UrlRefusal::Ourselves)
        } else {
            Ok(())
        }
    }
}

/// Returns true if an address belongs to this machine: then it is also the source address that the system would use for
/// it. Nothing is sent.
fn is_ours(address: IpAddr) -> bool {
    let any = match address {
        IpAddr::V4(_) => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
        IpAddr::V6(_) => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
    };
    let called_from = || {
        let socket = UdpSocket::bind((any, 0))?;
        socket.connect((address, 443))?;
        socket.local_addr()
    };
    // Without a route there is no server to call either.
    called_from().is_ok_and(|local: SocketAddr| local.ip() == address)
}
