//! Hostile URLs and names: addresses of every special range, in every spelling.

use std::fmt::Write;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::name_server::Answer;

/// The most attractive address for an attacker, of every range that is not public.
const V4: [[u8; 4]; 22] = [
    [0, 0, 0, 0],
    [0, 1, 2, 3],
    [10, 0, 0, 1],
    [100, 64, 0, 1],
    [100, 100, 100, 200],
    [127, 0, 0, 1],
    [127, 9, 9, 9],
    [168, 63, 129, 16],
    [169, 254, 169, 254],
    [172, 16, 0, 1],
    [192, 0, 0, 192],
    [192, 0, 2, 1],
    [192, 31, 196, 1],
    [192, 52, 193, 1],
    [192, 88, 99, 1],
    [192, 168, 1, 1],
    [192, 175, 48, 1],
    [198, 18, 0, 1],
    [198, 51, 100, 1],
    [203, 0, 113, 9],
    [224, 0, 0, 1],
    [240, 0, 0, 1],
];

const V6: [&str; 16] = [
    "::",
    "::1",
    "100::1",
    "2001::1",
    "2001:2::1",
    "2001:20::1",
    "2001:db8::77",
    "2620:4f:8000::1",
    "3ffe::1",
    "3fff::1",
    "5f00::1",
    "fc00::1",
    "fd00:ec2::254",
    "fe80::1",
    "fec0::1",
    "1234::1",
];

/// Returns every spelling, with and without TLS, at every kind of port.
pub(crate) fn urls() -> Vec<String> {
    let v4 = V4.into_iter().flat_map(spellings);
    let v6 = V6.into_iter().map(|address| format!("[{address}]"));
    let at = |host: String| {
        [
            format!("https://{host}/"),
            format!("http://{host}/latest/meta-data/"),
            format!("https://{host}:8443/?a=b"),
            format!("http://{host}:6379/"),
        ]
    };
    v4.chain(v6).flat_map(at).collect()
}

/// Returns the spellings of one address that a browser, a shell or a library accepts.
fn spellings(octets: [u8; 4]) -> Vec<String> {
    let [a, b, c, d] = octets;
    let bits = u32::from_be_bytes(octets);
    let dotted = Ipv4Addr::from(octets);
    let percent = dotted.to_string().bytes().fold(String::new(), |mut text, byte| {
        write!(text, "%{byte:02x}").expect("memory");
        text
    });
    let wide = |c: char| char::from_u32(u32::from(c) + 0xfee0).expect("a wide sign");
    let mut all = vec![
        dotted.to_string(),
        format!("{dotted}."),
        bits.to_string(),
        format!("{bits:#x}"),
        format!("{bits:#X}").replace("0X", "0x"),
        format!("0{bits:o}"),
        format!("{a:#x}.{b:#x}.{c:#x}.{d:#x}"),
        format!("0{a:o}.0{b:o}.0{c:o}.0{d:o}"),
        format!("{a}.{}", bits & 0x00ff_ffff),
        format!("{a}.{b}.{}", bits & 0xffff),
        format!("{a:#x}.{}", bits & 0x00ff_ffff),
        percent,
        dotted.to_string().chars().map(wide).collect(),
        dotted.to_string().replace('.', "。"),
    ];
    all.extend(in_v6(octets).map(|address| format!("[{address}]")));
    all
}

/// Returns the ways to embed an IPv4 address in an IPv6 one.
fn in_v6([a, b, c, d]: [u8; 4]) -> [Ipv6Addr; 9] {
    let (high, low) = (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]));
    [
        Ipv6Addr::new(0, 0, 0, 0, 0, 0xffff, high, low),
        Ipv6Addr::new(0, 0, 0, 0, 0, 0, high, low),
        Ipv6Addr::new(0, 0, 0, 0, 0xffff, 0, high, low),
        Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, high, low),
        Ipv6Addr::new(0x64, 0xff9b, 1, 0, 0, 0, high, low),
        Ipv6Addr::new(0x2002, high, low, 0, 0, 0, 0, 1),
        Ipv6Addr::new(0x2001, 0, high, low, 0, 0, !high, !low),
        Ipv6Addr::new(0x2606, 0x4700, 0, 0, 0, 0x5efe, high, low),
        Ipv6Addr::new(0x2606, 0x4700, 0, 0, 0x200, 0x5efe, high, low),
    ]
}

/// Returns names that resolve to each of these addresses alone, after or before a good one, or by an alias.
pub(crate) fn names() -> Vec<String> {
    let mut all = Vec::new();
    for number in 0..addresses().len() {
        for kind in ["alone", "after", "before", "alias"] {
            all.push(format!("{kind}-{number}.example"));
        }
    }
    all
}

/// Returns the answer for such a name.
pub(crate) fn answer(name: &str) -> Answer {
    // An alias is queried again by itself, for addresses of the other family.
    let Some((kind, number)) = name.trim_end_matches(".example").split_once('-') else {
        return Answer::NoSuchName;
    };
    let bad = addresses()[number.parse::<usize>().expect("a number")];
    let good = IpAddr::from([93, 184, 216, 34]);
    match kind {
        "after" => Answer::Addresses(vec![good, bad]),
        "before" => Answer::Addresses(vec![bad, good]),
        "alias" => Answer::Alias("innocent.example", vec![bad]),
        _ => Answer::Addresses(vec![bad]),
    }
}

fn addresses() -> Vec<IpAddr> {
    let v4 = V4.into_iter().map(IpAddr::from);
    let inside = [[127, 0, 0, 1], [169, 254, 169, 254]].into_iter().flat_map(in_v6);
    let v6 = V6.into_iter().map(|address| address.parse().expect("an address"));
    v4.chain(inside.map(IpAddr::V6)).chain(v6).collect()
}
