//! Z15: a tenant's URL that is accepted is https without a user, and its host is a name or a public address, by an
//! independent judgement. Its stored form is accepted again and unchanged.

use std::net::IpAddr;

use nightdesk_outside::{Rules, TenantUrl};
use url::{Host, Url};

use super::address_judge::is_public;

pub(super) fn run(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let rules = Rules::default();
    let Ok(accepted) = TenantUrl::parse(&text, &rules) else { return };
    let stored = accepted.as_str();
    let again = TenantUrl::parse(stored, &rules).expect("the stored form is accepted");
    assert_eq!(again.as_str(), stored);
    check_shape(stored);
    let url = Url::parse(stored).expect("an accepted URL is a URL");
    assert_eq!(url.port_or_known_default(), Some(443), "{stored}");
    match url.host().expect("an accepted URL has a host") {
        Host::Ipv4(v4) => assert!(is_public(IpAddr::V4(v4)), "{stored}"),
        Host::Ipv6(v6) => assert!(is_public(IpAddr::V6(v6)), "{stored}"),
        Host::Domain(name) => check_name(name),
    }
}

/// Checks the text itself, so that no other parser can see another host in it.
fn check_shape(stored: &str) {
    let rest = stored.strip_prefix("https://").expect("only https is accepted");
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    assert!(!authority.is_empty() && !authority.contains(['@', '\\', ' ', '%']), "{stored}");
    assert!(stored.is_ascii() && !stored.contains(|c: char| c.is_ascii_control()), "{stored:?}");
    assert!(!stored.contains('#'), "a fragment is never stored: {stored}");
}

/// Checks that no resolver takes the name for a spelling of an address.
fn check_name(name: &str) {
    let name = name.strip_suffix('.').unwrap_or(name);
    let last = name.rsplit('.').next().unwrap_or_default();
    let is_decimal = !last.is_empty() && last.bytes().all(|byte| byte.is_ascii_digit());
    let hex = last.strip_prefix("0x");
    let is_hex = hex.is_some_and(|hex| hex.bytes().all(|byte| byte.is_ascii_hexdigit()));
    assert!(name.parse::<IpAddr>().is_err() && !is_decimal && !is_hex, "{name}");
}
