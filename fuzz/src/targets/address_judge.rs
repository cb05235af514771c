//! An independent judgement of addresses: the tables of another library, and the ways in which an IPv6 address can lead
//! to an IPv4 one.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ip_network::{Ipv4Network, Ipv6Network};

/// Returns true if the address, and every IPv4 address inside it, is public and of one machine.
pub(super) fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => is_public_v4(v4),
        IpAddr::V6(v6) => is_public_v6(v6),
    }
}

fn is_public_v4(v4: Ipv4Addr) -> bool {
    let is_global = Ipv4Network::new(v4, 32).is_ok_and(|network| network.is_global());
    is_global && !v4.is_multicast() && !v4.is_broadcast()
}

fn is_public_v6(v6: Ipv6Addr) -> bool {
    let is_global = Ipv6Network::new(v6, 128).is_ok_and(|network| network.is_global());
    let segments = v6.segments();
    let is_allocated = segments[0] & 0xe000 == 0x2000;
    // 6to4, Teredo and ISATAP carry an IPv4 address.
    let is_tunnel = segments[0] == 0x2002
        || (segments[0] == 0x2001 && segments[1] == 0)
        || (segments[4] & !0x0200 == 0 && segments[5] == 0x5efe && !is_public_v4(last_four(v6)));
    is_global && is_allocated && !is_tunnel && v6.to_ipv4_mapped().is_none()
}

fn last_four(v6: Ipv6Addr) -> Ipv4Addr {
    let [.., a, b, c, d] = v6.octets();
    Ipv4Addr::new(a, b, c, d)
}
