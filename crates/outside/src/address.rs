//! Classifies addresses as public or special-purpose.
//!
//! The tables contain IANA's registries of special-purpose addresses completely: even ranges that the registry calls
//! reachable contain no tenant's server. In IPv6 only `2000::/3` is allocated at all, so every other address is
//! refused.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::{IpNet, Ipv4Net, Ipv6Net};

/// A range of addresses that is not public, and its purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpecialRange {
    range: IpNet,
    purpose: &'static str,
}

impl fmt::Display for SpecialRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.range, self.purpose)
    }
}

/// Returns the range of an address that is not public.
pub(crate) fn special_range(address: IpAddr) -> Option<SpecialRange> {
    match address {
        IpAddr::V4(v4) => special_v4(v4),
        IpAddr::V6(v6) => special_v6(v6),
    }
}

/// Returns the address itself and the addresses embedded in it: the possible destinations of a packet.
pub(crate) fn destinations(address: IpAddr) -> Vec<IpAddr> {
    let inside = match address {
        IpAddr::V6(v6) => embedded(v6),
        IpAddr::V4(_) => Vec::new(),
    };
    std::iter::once(address).chain(inside.into_iter().map(IpAddr::V4)).collect()
}

/// Returns the IPv4 addresses embedded in an IPv6 one.
fn embedded(v6: Ipv6Addr) -> Vec<Ipv4Addr> {
    let bits = v6.to_bits();
    let at = |shift: u32| Ipv4Addr::from_bits(low_32(bits >> shift));
    let is_in = |net: Ipv6Net| net.contains(&v6);
    if is_in(TEREDO) {
        return vec![at(64), Ipv4Addr::from_bits(!low_32(bits))];
    }
    if is_in(SIX_TO_FOUR) {
        return vec![at(80)];
    }
    if is_in(LOCAL_NAT64) {
        // By RFC 6052 the address surrounds the eight bits 64 to 71; many implementations put it at the end.
        let around = (low_32(bits >> 64) << 16) | (low_32(bits >> 40) & 0xffff);
        return vec![Ipv4Addr::from_bits(around), at(0)];
    }
    let at_the_end = [COMPATIBLE, MAPPED, TRANSLATED, NAT64];
    if at_the_end.into_iter().any(is_in) || is_isatap(v6) { vec![at(0)] } else { Vec::new() }
}

fn special_v4(v4: Ipv4Addr) -> Option<SpecialRange> {
    let (range, purpose) = SPECIAL_V4.iter().find(|(range, _)| range.contains(&v4))?;
    Some(SpecialRange { range: IpNet::V4(*range), purpose })
}

fn special_v6(v6: Ipv6Addr) -> Option<SpecialRange> {
    let found = SPECIAL_V6.iter().find(|(range, _)| range.contains(&v6));
    let not_given_out = (ALL_V6, "unallocated");
    let (range, purpose) =
        found.copied().or_else(|| (!GIVEN_OUT.contains(&v6)).then_some(not_given_out))?;
    Some(SpecialRange { range: IpNet::V6(range), purpose })
}

/// Returns true if its second half embeds an IPv4 address by ISATAP, for any first half.
fn is_isatap(v6: Ipv6Addr) -> bool {
    let segments = v6.segments();
    segments[4] & !0x0200 == 0 && segments[5] == 0x5efe
}

#[expect(clippy::cast_possible_truncation, reason = "only the low 32 bits are used")]
const fn low_32(bits: u128) -> u32 {
    bits as u32
}

const fn v4(octets: [u8; 4], length: u8) -> Ipv4Net {
    let [a, b, c, d] = octets;
    Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, d), length)
}

/// Returns a range by the first four groups of its address; the others are zero.
const fn v6(groups: [u16; 4], length: u8) -> Ipv6Net {
    let [a, b, c, d] = groups;
    Ipv6Net::new_assert(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0), length)
}

const SPECIAL_V4: [(Ipv4Net, &str); 20] = [
    (v4([0, 0, 0, 0], 8), "this network"),
    (v4([10, 0, 0, 0], 8), "private use"),
    (v4([100, 64, 0, 0], 10), "carrier-grade NAT"),
    (v4([127, 0, 0, 0], 8), "loopback"),
    (v4([168, 63, 129, 16], 32), "a cloud's own services"),
    (v4([169, 254, 0, 0], 16), "link-local, and clouds' own services"),
    (v4([172, 16, 0, 0], 12), "private use"),
    (v4([192, 0, 0, 0], 24), "protocol assignments"),
    (v4([192, 0, 2, 0], 24), "documentation"),
    (v4([192, 31, 196, 0], 24), "AS112"),
    (v4([192, 52, 193, 0], 24), "multicast tunnels"),
    (v4([192, 88, 99, 0], 24), "6to4 relays"),
    (v4([192, 168, 0, 0], 16), "private use"),
    (v4([192, 175, 48, 0], 24), "AS112"),
    (v4([198, 18, 0, 0], 15), "benchmarks"),
    (v4([198, 51, 100, 0], 24), "documentation"),
    (v4([203, 0, 113, 0], 24), "documentation"),
    (v4([224, 0, 0, 0], 4), "multicast"),
    (v4([255, 255, 255, 255], 32), "broadcast"),
    (v4([240, 0, 0, 0], 4), "reserved"),
];

/// The only allocated IPv6 range.
const GIVEN_OUT: Ipv6Net = v6([0x2000, 0, 0, 0], 3);
const ALL_V6: Ipv6Net = v6([0, 0, 0, 0], 0);
const COMPATIBLE: Ipv6Net = v6([0, 0, 0, 0], 96);
const MAPPED: Ipv6Net = Ipv6Net::new_assert(Ipv6Addr::new(0, 0, 0, 0, 0, 0xffff, 0, 0), 96);
const TRANSLATED: Ipv6Net = Ipv6Net::new_assert(Ipv6Addr::new(0, 0, 0, 0, 0xffff, 0, 0, 0), 96);
const NAT64: Ipv6Net = v6([0x64, 0xff9b, 0, 0], 96);
const LOCAL_NAT64: Ipv6Net = v6([0x64, 0xff9b, 1, 0], 48);
const TEREDO: Ipv6Net = v6([0x2001, 0, 0, 0], 32);
const SIX_TO_FOUR: Ipv6Net = v6([0x2002, 0, 0, 0], 16);

/// The first match gives the purpose.
const SPECIAL_V6: [(Ipv6Net, &str); 21] = [
    (Ipv6Net::new_assert(Ipv6Addr::UNSPECIFIED, 128), "the unspecified address"),
    (Ipv6Net::new_assert(Ipv6Addr::LOCALHOST, 128), "loopback"),
    (COMPATIBLE, "IPv4 in IPv6"),
    (MAPPED, "IPv4 in IPv6"),
    (TRANSLATED, "IPv4 in IPv6"),
    (NAT64, "NAT64"),
    (LOCAL_NAT64, "local NAT64"),
    (v6([0x100, 0, 0, 0], 64), "discarded"),
    (v6([0x100, 0, 0, 1], 64), "placeholder"),
    (TEREDO, "Teredo"),
    (v6([0x2001, 0xdb8, 0, 0], 32), "documentation"),
    (v6([0x2001, 0, 0, 0], 23), "protocol assignments"),
    (SIX_TO_FOUR, "6to4"),
    (v6([0x2620, 0x4f, 0x8000, 0], 48), "AS112"),
    (v6([0x3ffe, 0, 0, 0], 16), "6bone, returned"),
    (v6([0x3fff, 0, 0, 0], 20), "documentation"),
    (v6([0x5f00, 0, 0, 0], 16), "segment routing"),
    (v6([0xfc00, 0, 0, 0], 7), "private use"),
    (v6([0xfe80, 0, 0, 0], 10), "link-local"),
    (v6([0xfec0, 0, 0, 0], 10), "site-local"),
    (v6([0xff00, 0, 0, 0], 8), "multicast"),
];

#[cfg(test)]
mod second_opinion;
#[cfg(test)]
mod tests;
