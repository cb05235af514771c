//! Every spelling of an address or a name is parsed in one way.

use super::*;

fn parse(text: &str) -> Result<TenantUrl, UrlRefusal> {
    TenantUrl::parse(text, &Rules::default())
}

/// Spellings of 127.0.0.1 and of other addresses that are not public, which a resolver never sees.
const LITERALS: &[&str] = &[
    "127.0.0.1",
    "[::ffff:127.0.0.1]",
    "2130706433",
    "0x7f.1",
    "0177.0.0.1",
    "127.1",
    // in other number formats
    "0x7f000001",
    "0X7F000001",
    "017700000001",
    "0x7f.0x0.0x0.0x1",
    "0x7f.0.1",
    "0177.1",
    "0177.0x0.0.01",
    "127.0.1",
    "127.0x1",
    "00000177.0.0.1",
    "0x0000007f.1",
    "0",
    "0x0",
    "00",
    "0.0",
    "0.0.0.0",
    "017700000001.",
    "127.0.0.1.",
    "127.1.",
    "2130706433.",
    "127.0.0.2",
    "127.255.255.254",
    // other addresses as numbers
    "2852039166",
    "0xa9fea9fe",
    "0251.0376.0251.0376",
    "169.254.43518",
    "0xa9.254.0251.254",
    "3232235777",
    "167772161",
    "10.1",
    "012.1",
    "0xa.1",
    "192.168.257",
    "172.1048577",
    "100.100.51400",
    "0xffffffff",
    "4294967295",
    // percent-encoded, in full width, and both
    "%31%32%37.0.0.1",
    "127%2e0%2e0%2e1",
    "%30%78%37%66%2e%31",
    "１２７.０.０.１",
    "127。0。0。1",
    "①②⑦.⓪.⓪.①",
    "１２７．１",
    "ⓛocalhost",
    // in IPv6
    "[::]",
    "[::1]",
    "[0:0:0:0:0:0:0:1]",
    "[0000:0000:0000:0000:0000:0000:0000:0001]",
    "[::ffff:7f00:1]",
    "[::ffff:0:127.0.0.1]",
    "[::FFFF:7F00:0001]",
    "[::127.0.0.1]",
    "[::7f00:1]",
    "[64:ff9b::127.0.0.1]",
    "[64:ff9b::7f00:1]",
    "[64:ff9b:1::127.0.0.1]",
    "[2002:7f00:1::]",
    "[2001:0:7f00:1::1]",
    "[2001::80ff:fffe]",
    "[fe80::1]",
    "[fd00:ec2::254]",
    "[fc00::1]",
    "[ff02::1]",
    "[2606:4700::5efe:127.0.0.1]",
    "[::ffff:169.254.169.254]",
    // with a zone, or broken
    "[fe80::1%25lo]",
    "[fe80::1%lo]",
    "[::1%250]",
    "[::1",
    "127.0.0.1%00.example.com",
    "256.0.0.1",
    "127.0.0.0.1",
    "0x1ffffffff",
    "1.2.3.4.5",
    "09.0.0.1",
    "localhost",
    "LOCALHOST",
    "localhost.",
    "foo.example.",
];

#[test]
fn no_spelling_of_an_address_gets_past() {
    assert!(LITERALS.len() >= 46, "the six that were seen, and forty more");
    for host in LITERALS {
        let https = parse(&format!("https://{host}/wake"));
        assert!(https.is_err(), "{host} was taken for {https:?}");
        let port = parse(&format!("https://{host}:443/wake?a=b"));
        assert!(port.is_err(), "{host} was taken for {port:?}");
    }
}

#[test]
fn a_public_address_is_read_in_any_spelling() {
    for host in ["8.8.8.8", "134744072", "0x08.8.8.8", "010.8.8.8", "8.8.2056", "8.8.8.8."] {
        let url = parse(&format!("https://{host}/")).expect(host);
        assert_eq!(url.as_str(), "https://8.8.8.8/", "{host}");
    }
}

#[test]
fn what_is_refused_says_why() {
    let cases = [
        ("", UrlRefusal::Unreadable),
        ("agents.example/wake", UrlRefusal::Unreadable),
        ("https://", UrlRefusal::Unreadable),
        ("https:///", UrlRefusal::Unreadable),
        (" https://agents.example/", UrlRefusal::Unreadable),
        ("https://agents.example/a b", UrlRefusal::Unreadable),
        ("https://agents.\texample/", UrlRefusal::Unreadable),
        ("https://agents.example/\r\nHost: inside", UrlRefusal::Unreadable),
        ("https://agents.example\\@127.0.0.1/", UrlRefusal::Unreadable),
        ("https:\\\\127.0.0.1\\", UrlRefusal::Unreadable),
        ("http://agents.example/", UrlRefusal::NotHttps),
        ("HTTP://agents.example/", UrlRefusal::NotHttps),
        ("ftp://agents.example/", UrlRefusal::NotHttps),
        ("file:///etc/passwd", UrlRefusal::NotHttps),
        ("unix:/run/docker.sock", UrlRefusal::NotHttps),
        ("gopher://agents.example:70/1", UrlRefusal::NotHttps),
        ("ws://agents.example/", UrlRefusal::NotHttps),
        ("javascript:alert(1)", UrlRefusal::NotHttps),
        ("data:text/html,a", UrlRefusal::NotHttps),
        ("https://ann@agents.example/", UrlRefusal::UserInfo),
        ("https://ann:secret@agents.example/", UrlRefusal::UserInfo),
        ("https://:secret@agents.example/", UrlRefusal::UserInfo),
        ("https://agents.example@127.0.0.1/", UrlRefusal::UserInfo),
        ("https://agents.example:80/", UrlRefusal::Port(80)),
        ("https://agents.example:8443/", UrlRefusal::Port(8443)),
        ("https://agents.example:22/", UrlRefusal::Port(22)),
        ("https://agents.example:0/", UrlRefusal::Port(0)),
        ("https://agents.example:65536/", UrlRefusal::Unreadable),
        ("https://intranet/", UrlRefusal::NotAFullName),
        ("https://agents.example./", UrlRefusal::NotAFullName),
        ("https://metadata./", UrlRefusal::NotAFullName),
    ];
    for (text, want) in cases {
        assert_eq!(parse(text), Err(want), "{text:?}");
    }
}

#[test]
fn what_may_be_called_is_kept_in_one_form() {
    let cases = [
        ("https://agents.example/wake", "https://agents.example/wake"),
        ("HTTPS://Agents.Example:443/wake#top", "https://agents.example/wake"),
        ("https://agents.example", "https://agents.example/"),
        ("https://agents.example/?a=b&c", "https://agents.example/?a=b&c"),
        ("https://bücher.example/ä", "https://xn--bcher-kva.example/%C3%A4"),
        ("https://agents.example/a/../b", "https://agents.example/b"),
        ("https://agents.example/|^{}\"", "https://agents.example/|^%7B%7D%22"),
    ];
    for (text, want) in cases {
        let url = parse(text).expect(text);
        assert_eq!(url.as_str(), want, "{text}");
        assert_eq!(parse(url.as_str()).as_ref(), Ok(&url), "{text} read again");
    }
}

#[test]
fn a_url_may_be_so_long() {
    let of = |bytes: usize| {
        let begin = "https://agents.example/";
        format!("{begin}{}", "a".repeat(bytes - begin.len()))
    };

    assert!(parse(&of(OUTSIDE_URL_BYTES_MAX)).is_ok());
    assert_eq!(parse(&of(OUTSIDE_URL_BYTES_MAX + 1)), Err(UrlRefusal::TooLong));
}

#[test]
fn neither_display_nor_debug_shows_the_query() {
    let url = parse("https://agents.example/wake?key=canary").expect("may be called");

    assert_eq!(url.to_string(), "https://agents.example/wake");
    assert_eq!(format!("{url:?}"), "TenantUrl(https://agents.example/wake)");
    assert!(url.as_str().ends_with("?key=canary"));
}
