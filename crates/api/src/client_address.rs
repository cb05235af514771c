//! The address of a client behind proxies.
//!
//! A proxy appends the address of its client to `X-Forwarded-For`. Everything to the left of the last trusted proxy's word
//! was written by its client and proves nothing.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::extract::{ConnectInfo, Request, State};
use axum::http::{HeaderMap, HeaderName};
use ipnet::IpNet;
use nightdesk_types::limits::TRUSTED_PROXIES_MAX;

const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// The proxies that are trusted to name their clients. Those on this machine always are.
#[derive(Clone, Debug, Default)]
pub struct TrustedProxies(Arc<[IpNet]>);

/// The reason that a list of trusted proxies is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadProxies {
    /// An element is neither an address nor a network.
    #[error("{0:?} is not an address or a network; write it like 10.0.0.7 or 10.0.0.0/24")]
    Unreadable(String),
    /// An element contains every address.
    #[error("{0} trusts every client to name its own address; list the addresses of your proxies")]
    Everything(IpNet),
    /// The list is too long.
    #[error("at most {TRUSTED_PROXIES_MAX} proxies can be listed; combine them to networks")]
    TooMany,
}

impl TrustedProxies {
    /// Reads a list of addresses and networks.
    pub fn parse(list: &[String]) -> Result<Self, BadProxies> {
        if list.len() > TRUSTED_PROXIES_MAX {
            return Err(BadProxies::TooMany);
        }
        list.iter().map(|text| parse_network(text)).collect::<Result<_, _>>().map(Self)
    }

    /// Returns the address of the client: the right-most that is not of a trusted proxy.
    fn client(&self, peer: IpAddr, headers: &HeaderMap) -> IpAddr {
        let mut client = peer.to_canonical();
        let values = headers.get_all(FORWARDED_FOR).iter().rev();
        let texts = values.map(|value| value.to_str().unwrap_or_default());
        for text in texts.flat_map(|text| text.rsplit(',')) {
            if !self.contains(client) {
                break;
            }
            let Some(named) = parse_address(text.trim()) else { break };
            client = named.to_canonical();
        }
        client
    }

    fn contains(&self, address: IpAddr) -> bool {
        address.is_loopback() || self.0.iter().any(|network| network.contains(&address))
    }
}

fn parse_network(text: &str) -> Result<IpNet, BadProxies> {
    let network = text.parse().or_else(|_| text.parse::<IpAddr>().map(IpNet::from));
    let network: IpNet = network.map_err(|_| BadProxies::Unreadable(text.to_owned()))?;
    if network.prefix_len() == 0 { Err(BadProxies::Everything(network)) } else { Ok(network) }
}

/// Reads an address. Some proxies append the port.
fn parse_address(text: &str) -> Option<IpAddr> {
    let with_port = || text.parse::<SocketAddr>().ok().map(|address| address.ip());
    text.parse().ok().or_else(with_port)
}

/// Puts the address of the client in place of the proxy's, for every limit that counts by address.
pub(crate) async fn name_client(
    State(proxies): State<TrustedProxies>,
    mut request: Request,
) -> Request {
    if let Some(ConnectInfo(peer)) = request.extensions().get::<ConnectInfo<SocketAddr>>().copied()
    {
        let client = proxies.client(peer.ip(), request.headers());
        request.extensions_mut().insert(ConnectInfo(SocketAddr::new(client, peer.port())));
    }
    request
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn proxies(list: &[&str]) -> TrustedProxies {
        let list: Vec<String> = list.iter().map(|&text| text.to_owned()).collect();
        TrustedProxies::parse(&list).unwrap()
    }

    /// Returns the client of a request with these headers, which a `|` separates.
    fn client(trusted: &[&str], peer: &str, forwarded: &str) -> String {
        let values = forwarded.split('|').filter(|value| !value.is_empty());
        let headers = values.map(|value| (FORWARDED_FOR, value.parse().unwrap())).collect();
        proxies(trusted).client(peer.parse().unwrap(), &headers).to_string()
    }

    #[test]
    fn the_right_most_address_that_is_no_trusted_proxy_counts() {
        let (none, lan): (&[&str], &[&str]) = (&[], &["10.0.0.0/24", "2001:db8::5"]);
        let cases = [
            ("no proxy", none, "192.0.2.1", "", "192.0.2.1"),
            ("a stranger's word", none, "192.0.2.1", "198.51.100.7", "192.0.2.1"),
            ("a proxy on this machine", none, "127.0.0.1", "198.51.100.7", "198.51.100.7"),
            ("the same in IPv6", none, "::ffff:127.0.0.1", "198.51.100.7", "198.51.100.7"),
            ("another proxy, not listed", none, "10.0.0.9", "198.51.100.7", "10.0.0.9"),
            ("a listed network", lan, "10.0.0.9", "198.51.100.7", "198.51.100.7"),
            ("a listed address", lan, "2001:db8::5", "198.51.100.7", "198.51.100.7"),
            ("its neighbour", lan, "2001:db8::6", "198.51.100.7", "2001:db8::6"),
            ("forged in front", lan, "10.0.0.9", "203.0.113.9, 198.51.100.7", "198.51.100.7"),
            ("two proxies", lan, "127.0.0.1", "198.51.100.7, 10.0.0.9", "198.51.100.7"),
            ("two headers", lan, "127.0.0.1", "198.51.100.7|10.0.0.9", "198.51.100.7"),
            ("forged proxies", lan, "10.0.0.9", "10.0.0.1, 192.0.2.8", "192.0.2.8"),
            ("only proxies", lan, "127.0.0.1", "10.0.0.1, 10.0.0.2", "10.0.0.1"),
            ("nonsense", lan, "10.0.0.9", "nonsense", "10.0.0.9"),
            ("nonsense in front", lan, "10.0.0.9", "x, 10.0.0.2", "10.0.0.2"),
            ("with a port", lan, "10.0.0.9", "198.51.100.7:4711", "198.51.100.7"),
            ("IPv6 with a port", lan, "10.0.0.9", "[2001:db8::8]:4711", "2001:db8::8"),
        ];
        for (name, trusted, peer, forwarded, want) in cases {
            assert_eq!(client(trusted, peer, forwarded), want, "{name}");
        }
    }

    #[test]
    fn a_list_is_bounded_and_names_proxies() {
        let parse = |list: &[&str]| {
            let list: Vec<String> = list.iter().map(|&text| text.to_owned()).collect();
            TrustedProxies::parse(&list).map(drop)
        };

        assert_eq!(parse(&vec!["10.0.0.1"; TRUSTED_PROXIES_MAX]), Ok(()));
        assert_eq!(parse(&vec!["10.0.0.1"; TRUSTED_PROXIES_MAX + 1]), Err(BadProxies::TooMany));
        let name = Err(BadProxies::Unreadable("proxy.lan".to_owned()));
        assert_eq!(parse(&["10.0.0.1", "proxy.lan"]), name);
        for all in ["0.0.0.0/0", "::/0"] {
            assert_eq!(parse(&[all]), Err(BadProxies::Everything(all.parse().unwrap())));
        }
    }

    proptest! {
        #[test]
        fn a_client_that_is_no_proxy_cannot_choose_its_address(forged in "[0-9a-f:., ]{0,60}") {
            let with_own = format!("{forged},198.51.100.7");
            prop_assert_eq!(client(&["10.0.0.0/8"], "10.1.2.3", &with_own), "198.51.100.7");
            prop_assert_eq!(client(&["10.0.0.0/8"], "198.51.100.7", &forged), "198.51.100.7");
        }
    }
}
