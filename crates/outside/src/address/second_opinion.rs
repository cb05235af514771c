//! Compares the tables with a third party's: every address that ours call public is public in theirs too.
//!
//! Ranges where ours are stricter are listed here with the reason; nowhere are ours laxer.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::LazyLock;

use ip_network::{Ipv4Network, Ipv6Network};
use ipnet::IpNet;
use proptest::prelude::*;

use super::{SPECIAL_V4, SPECIAL_V6};
use crate::host::Host;
use crate::rules::Rules;

/// Ranges that the other tables allow, and the reason that ours do not.
const STRICTER: &[(&str, &str)] = &[
    ("168.63.129.16/32", "public by its number, and answered only inside a cloud"),
    ("192.0.0.9/32", "anycast of a protocol, nobody's server"),
    ("192.0.0.10/32", "anycast of a protocol, nobody's server"),
    ("192.31.196.0/24", "answers for names of private addresses"),
    ("192.52.193.0/24", "multicast tunnels"),
    ("192.88.99.0/24", "leads into 6to4, which is retired"),
    ("192.175.48.0/24", "answers for names of private addresses"),
    ("224.0.0.0/4", "reachable is not unicast"),
    // In IPv6 the other tables list forbidden ranges. Ours allow 2000::/3 and forbid the rest.
    ("::/3", "IPv4 inside, NAT64, discard and nothing else was given out here"),
    ("4000::/2", "not given out"),
    ("8000::/1", "not given out, and multicast"),
    ("2001::/23", "protocols, Teredo among them"),
    ("2002::/16", "IPv4 inside (6to4)"),
    ("2620:4f:8000::/48", "answers for names of private addresses"),
    ("3ffe::/16", "given back"),
    ("3fff::/20", "documentation since 2024"),
];

fn ours(address: IpAddr) -> bool {
    Rules::default().check_address(&Host::Name("a.example".to_owned()), address).is_ok()
}

fn theirs(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => Ipv4Network::new(v4, 32).expect("one address").is_global(),
        IpAddr::V6(v6) => Ipv6Network::new(v6, 128).expect("one address").is_global(),
    }
}

fn is_stricter_on_purpose(address: IpAddr) -> bool {
    static RANGES: LazyLock<Vec<IpNet>> = LazyLock::new(|| {
        STRICTER.iter().map(|(range, _)| range.parse().expect("a range")).collect()
    });
    RANGES.iter().any(|range| range.contains(&address)) || is_isatap(address)
}

/// Returns true for an IPv4 address embedded by ISATAP, which the other tables do not detect.
fn is_isatap(address: IpAddr) -> bool {
    matches!(address, IpAddr::V6(v6) if v6.segments()[5] == 0x5efe)
}

fn compare(address: IpAddr) {
    match (ours(address), theirs(address)) {
        (true, false) => panic!("{address}: we would call it, and it is not public"),
        (false, true) if !is_stricter_on_purpose(address) => {
            panic!("{address}: we refuse it, and nobody said why");
        }
        (true, true) | (false, _) => {}
    }
}

#[test]
fn both_agree_on_every_first_octet() {
    for first in 0..=u8::MAX {
        for rest in [[0, 0, 0], [0, 0, 1], [1, 2, 3], [255, 255, 254], [255, 255, 255]] {
            compare(IpAddr::from([first, rest[0], rest[1], rest[2]]));
        }
    }
}

#[test]
fn both_agree_on_every_first_group() {
    for first in 0..=u16::MAX {
        compare(IpAddr::from([first, 0, 0, 0, 0, 0, 0, 1]));
        compare(IpAddr::from([first, 0xffff, 1, 2, 3, 4, 5, 6]));
    }
}

/// Returns both ends of every range, and the addresses just outside.
fn edges() -> Vec<IpAddr> {
    let v4 = SPECIAL_V4.iter().flat_map(|(range, _)| {
        let (first, last) = (range.network().to_bits(), range.broadcast().to_bits());
        let around = [first, last, first.wrapping_sub(1), last.wrapping_add(1)];
        around.map(|bits| IpAddr::V4(Ipv4Addr::from_bits(bits)))
    });
    let v6 = SPECIAL_V6.iter().flat_map(|(range, _)| {
        let (first, last) = (range.network().to_bits(), range.broadcast().to_bits());
        let around = [first, last, first.wrapping_sub(1), last.wrapping_add(1)];
        around.map(|bits| IpAddr::V6(Ipv6Addr::from_bits(bits)))
    });
    v4.chain(v6).collect()
}

#[test]
fn both_agree_at_the_edges_of_every_range() {
    edges().into_iter().for_each(compare);
}

fn bad_edges() -> Vec<IpAddr> {
    edges().into_iter().filter(|address| !theirs(*address)).collect()
}

/// Generates any address, addresses near an edge, and addresses with an embedded IPv4 address.
fn addresses() -> impl Strategy<Value = IpAddr> {
    let near = (prop::sample::select(edges()), any::<u16>()).prop_map(|(edge, by)| match edge {
        IpAddr::V4(v4) => IpAddr::V4(Ipv4Addr::from_bits(v4.to_bits() ^ u32::from(by))),
        IpAddr::V6(v6) => IpAddr::V6(Ipv6Addr::from_bits(v6.to_bits() ^ u128::from(by))),
    });
    let inside = (0x2000_u16..0x4000, any::<u32>()).prop_map(|(first, v4)| {
        let bits = (u128::from(first) << 112) | (0x5efe << 32) | u128::from(v4);
        IpAddr::V6(Ipv6Addr::from_bits(bits))
    });
    prop_oneof![
        any::<u32>().prop_map(|bits| IpAddr::V4(Ipv4Addr::from_bits(bits))),
        any::<u128>().prop_map(|bits| IpAddr::V6(Ipv6Addr::from_bits(bits))),
        near,
        inside,
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn both_agree_on_any_address(address in addresses()) {
        compare(address);
    }

    #[test]
    fn one_bad_answer_spoils_all(
        mut answers in prop::collection::vec(addresses(), 0..12),
        bad in prop::sample::select(bad_edges()),
        at in any::<prop::sample::Index>(),
    ) {
        let host = Host::Name("a.example".to_owned());
        let all_good = answers.iter().all(|address| theirs(*address) && ours(*address));
        prop_assert_eq!(Rules::default().check_addresses(&host, &answers).is_ok(), all_good);

        answers.insert(at.index(answers.len() + 1), bad);
        prop_assert!(Rules::default().check_addresses(&host, &answers).is_err());
    }
}
