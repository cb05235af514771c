//! Addresses by range: both ends, the neighbours, and embedded addresses.

use std::net::{IpAddr, Ipv6Addr};

use super::*;
use crate::host::Host;
use crate::refusal::UrlRefusal;
use crate::rules::Rules;

/// The purpose of each range, and addresses in it.
const SPECIAL: &[(&str, &[&str])] = &[
    ("this network", &["0.0.0.0", "0.0.0.1", "0.1.2.3", "0.255.255.255"]),
    ("private use", &["10.0.0.0", "10.0.0.1", "10.128.3.4", "10.255.255.255"]),
    ("private use", &["172.16.0.0", "172.16.0.1", "172.31.255.255", "172.20.10.2"]),
    ("private use", &["192.168.0.0", "192.168.0.1", "192.168.255.255", "192.168.100.1"]),
    ("carrier-grade NAT", &["100.64.0.0", "100.64.0.1", "100.100.100.200", "100.127.255.255"]),
    ("loopback", &["127.0.0.0", "127.0.0.1", "127.1.2.3", "127.255.255.255", "::1"]),
    ("a cloud's own services", &["168.63.129.16"]),
    (
        "link-local, and clouds' own services",
        &["169.254.0.0", "169.254.169.254", "169.254.170.2", "169.254.255.255"],
    ),
    (
        "protocol assignments",
        &["192.0.0.0", "192.0.0.8", "192.0.0.9", "192.0.0.10", "192.0.0.170", "192.0.0.255"],
    ),
    ("documentation", &["192.0.2.0", "192.0.2.1", "192.0.2.255"]),
    ("documentation", &["198.51.100.0", "198.51.100.255", "203.0.113.0", "203.0.113.255"]),
    ("AS112", &["192.31.196.0", "192.31.196.255", "192.175.48.0", "192.175.48.255"]),
    ("multicast tunnels", &["192.52.193.0", "192.52.193.255"]),
    ("6to4 relays", &["192.88.99.0", "192.88.99.1", "192.88.99.255"]),
    ("benchmarks", &["198.18.0.0", "198.18.0.1", "198.19.255.255"]),
    ("multicast", &["224.0.0.0", "224.0.0.1", "232.1.1.1", "239.255.255.255"]),
    ("reserved", &["240.0.0.0", "240.0.0.1", "255.255.255.254", "250.1.2.3"]),
    ("broadcast", &["255.255.255.255"]),
    ("the unspecified address", &["::"]),
    ("IPv4 in IPv6", &["::2", "::10.0.0.1", "::127.0.0.1", "::8.8.8.8"]),
    (
        "IPv4 in IPv6",
        &["::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:8.8.8.8", "::ffff:169.254.169.254"],
    ),
    ("IPv4 in IPv6", &["::ffff:0:127.0.0.1", "::ffff:0:8.8.8.8"]),
    ("NAT64", &["64:ff9b::", "64:ff9b::127.0.0.1", "64:ff9b::8.8.8.8", "64:ff9b::ffff:ffff"]),
    ("local NAT64", &["64:ff9b:1::", "64:ff9b:1::7f00:1", "64:ff9b:1:ffff:ffff:ffff:ffff:ffff"]),
    ("discarded", &["100::", "100::1", "100::ffff:ffff:ffff:ffff"]),
    ("placeholder", &["100:0:0:1::", "100:0:0:1::1"]),
    ("Teredo", &["2001::", "2001::1", "2001:0:7f00:1::", "2001:0:ffff:ffff:ffff:ffff:ffff:ffff"]),
    (
        "protocol assignments",
        &["2001:1::1", "2001:2::1", "2001:3::1", "2001:4:112::1", "2001:10::1", "2001:20::1"],
    ),
    ("protocol assignments", &["2001:30::1", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff"]),
    ("documentation", &["2001:db8::", "2001:db8::1", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff"]),
    ("documentation", &["3fff::", "3fff::1", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff"]),
    ("6to4", &["2002::", "2002:7f00:1::", "2002:808:808::1", "2002:ffff:ffff::1"]),
    ("AS112", &["2620:4f:8000::", "2620:4f:8000:ffff:ffff:ffff:ffff:ffff"]),
    ("6bone, returned", &["3ffe::", "3ffe:b00::1", "3ffe:ffff::1"]),
    ("segment routing", &["5f00::", "5f00:ffff::1"]),
    ("private use", &["fc00::", "fc00::1", "fd00::1", "fd00:ec2::254", "fdff:ffff::1"]),
    ("link-local", &["fe80::", "fe80::1", "fe80::a9fe:a9fe", "febf:ffff::1"]),
    ("site-local", &["fec0::", "fec0::1", "feff:ffff::1"]),
    ("multicast", &["ff00::", "ff02::1", "ff0e::1", "ffff:ffff::1"]),
    (
        "unallocated",
        &["64:ff9b:2::1", "64:ff9a::1", "100:0:0:2::1", "200::1", "1000::1", "1fff:ffff::1"],
    ),
    ("unallocated", &["4000::1", "6000::1", "8000::1", "c000::1", "e000::1", "fbff::1"]),
    // The embedded address determines the range; the first half does not show it.
    ("loopback", &["2606:4700::5efe:7f00:1", "2606:4700::200:5efe:127.0.0.1"]),
    ("private use", &["2a00:1450:4001:800:0:5efe:10.0.0.1", "2a00::200:5efe:192.168.1.1"]),
];

/// Public addresses, many of them next to a special range.
const PUBLIC: &[&str] = &[
    "1.0.0.0",
    "1.1.1.1",
    "8.8.8.8",
    "9.255.255.255",
    "11.0.0.0",
    "93.184.216.34",
    "100.63.255.255",
    "100.128.0.0",
    "126.255.255.255",
    "128.0.0.0",
    "168.63.129.15",
    "168.63.129.17",
    "169.253.255.255",
    "169.255.0.0",
    "172.15.255.255",
    "172.32.0.0",
    "191.255.255.255",
    "192.0.1.0",
    "192.0.3.0",
    "192.31.195.255",
    "192.88.98.255",
    "192.88.100.0",
    "192.167.255.255",
    "192.169.0.0",
    "198.17.255.255",
    "198.20.0.0",
    "198.51.99.255",
    "198.51.101.0",
    "203.0.112.255",
    "203.0.114.0",
    "223.255.255.255",
    "2000::1",
    "2001:200::1",
    "2001:db7::1",
    "2001:db9::1",
    "2003::1",
    "2606:4700:4700::1111",
    "2620:4f:7fff::1",
    "2620:4f:8001::1",
    "2a00:1450:4001:800::200e",
    "2c0f:ffff::1",
    "3fff:1000::1",
    "2606:4700::5efe:8.8.8.8",
];

fn check(text: &str) -> Result<(), UrlRefusal> {
    let address: IpAddr = text.parse().expect("an address");
    Rules::default().check_address(&Host::Name("a.example".to_owned()), address)
}

#[test]
fn an_address_is_public_or_of_its_range() {
    for (purpose, addresses) in SPECIAL {
        for address in *addresses {
            let refused = check(address);
            let Err(UrlRefusal::NotPublic(special)) = refused else {
                panic!("{address} is {purpose}, and got {refused:?}");
            };
            assert_eq!(special.purpose, *purpose, "{address}");
        }
    }
    for address in PUBLIC {
        assert_eq!(check(address), Ok(()), "{address} is public");
    }
}

#[test]
fn the_table_is_as_long_as_was_promised() {
    let special: usize = SPECIAL.iter().map(|(_, addresses)| addresses.len()).sum();

    assert!(special >= 120, "{special} that are not public");
    assert!(special + PUBLIC.len() >= 160);
}

#[test]
fn every_range_ends_where_it_ends() {
    for (range, purpose) in SPECIAL_V4 {
        let found = |v4| special_range(IpAddr::V4(v4)).map(|special| special.purpose);
        assert!(found(range.network()).is_some(), "{purpose}: {range}");
        assert!(found(range.broadcast()).is_some(), "{purpose}: {range}");
        assert_eq!(range, range.trunc(), "{purpose} has no bits past its length");
    }
    for (range, purpose) in SPECIAL_V6 {
        let found = |v6| special_range(IpAddr::V6(v6)).map(|special| special.purpose);
        assert!(found(range.network()).is_some(), "{purpose}: {range}");
        assert!(found(range.broadcast()).is_some(), "{purpose}: {range}");
        assert_eq!(range, range.trunc(), "{purpose} has no bits past its length");
    }
}

#[test]
fn finds_what_travels_inside() {
    let cases: [(&str, &[&str]); 10] = [
        ("::ffff:10.1.2.3", &["10.1.2.3"]),
        ("::10.1.2.3", &["10.1.2.3"]),
        ("::ffff:0:10.1.2.3", &["10.1.2.3"]),
        ("64:ff9b::10.1.2.3", &["10.1.2.3"]),
        // RFC 6052, section 2.2: 192.0.2.33 under a prefix of 48 bits.
        ("64:ff9b:1:c000:2:2100::", &["192.0.2.33", "0.0.0.0"]),
        ("2002:a01:203::1", &["10.1.2.3"]),
        // RFC 4380, section 4: the server, and the client with its bits inverted.
        ("2001:0:4136:e378:8000:63bf:3fff:fdd2", &["65.54.227.120", "192.0.2.45"]),
        ("2606::5efe:10.1.2.3", &["10.1.2.3"]),
        ("2606::200:5efe:10.1.2.3", &["10.1.2.3"]),
        ("2606::1:5efe:10.1.2.3", &[]),
    ];
    for (text, want) in cases {
        let address: Ipv6Addr = text.parse().expect("an address");
        let found: Vec<_> = embedded(address).iter().map(ToString::to_string).collect();
        assert_eq!(found, want, "{text}");
    }
}

#[test]
fn says_which_range_it_is() {
    let special = special_range("192.168.1.1".parse().expect("an address")).expect("is private");

    assert_eq!(special.to_string(), "192.168.0.0/16 (private use)");
}
