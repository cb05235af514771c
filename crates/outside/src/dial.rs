//! Dial: from a URL to a connection with the very address that was looked at.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

use nightdesk_types::limits::OUTSIDE_DIALS_MAX;
use tokio::net::TcpStream;

use crate::call::CallError;
use crate::names::Names;
use crate::pace::Pace;
use crate::refused::Refused;
use crate::rules::Rules;
use crate::tenant_url::{Host, TenantUrl};

/// What dialling needs to know.
#[derive(Debug)]
pub(crate) struct Dialler<'a> {
    pub(crate) rules: &'a Rules,
    pub(crate) names: &'a Names,
    pub(crate) pace: &'a Pace,
}

impl Dialler<'_> {
    /// Every address the host stands for, all of which may be called.
    pub(crate) async fn addresses(&self, host: &Host) -> Result<Vec<IpAddr>, CallError> {
        let addresses = match host {
            Host::Literal(address) => vec![*address],
            Host::Name(name) => self.names.look_up(name).await.map_err(unreachable)?,
        };
        self.rules.check_addresses(host, &addresses)?;
        Ok(addresses)
    }

    /// Connects to one of these: the first that answers, of the first few.
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
        Err(unreachable(failed))
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

    /// Looks at who is really at the other end, before anything is said.
    fn check_peer(
        &self,
        host: &Host,
        dialled: IpAddr,
        stream: &TcpStream,
    ) -> Result<(), CallError> {
        let peer = stream.peer_addr().map_err(unreachable)?.ip();
        self.rules.check_address(host, peer)?;
        if peer == dialled { Ok(()) } else { Err(unreachable("the connection leads elsewhere")) }
    }

    /// Refuses this machine's own addresses, unless the operator named them.
    fn check_not_ours(&self, host: &Host, address: IpAddr) -> Result<(), Refused> {
        let allowed = self.rules.names(host, address) || !host.is_guarded();
        if !allowed && is_ours(address) { Err(Refused::Ourselves) } else { Ok(()) }
    }
}

/// Whether an address is one of this machine's: then it is also the one that the system would
/// call it from. Nothing is sent to find out.
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
    // Without a way there, there is nothing to be called either.
    called_from().is_ok_and(|local: SocketAddr| local.ip() == address)
}

pub(crate) fn unreachable(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> CallError {
    CallError::Unreachable(error.into())
}
