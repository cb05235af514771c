//! Recognises the own machine in a URL.

use std::net::IpAddr;

/// Returns true if the host of a URL is this machine by its name or its address alone. A name that would have to be
/// resolved is another machine.
pub fn is_loopback_host(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    match bare.parse::<IpAddr>() {
        Ok(address) => address.to_canonical().is_loopback(),
        Err(_) => host.eq_ignore_ascii_case("localhost"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_is_loopback() {
        for here in ["127.0.0.1", "127.9.9.9", "::1", "[::1]", "::ffff:127.0.0.1", "LocalHost"] {
            assert!(is_loopback_host(here), "{here}");
        }
        for away in ["192.0.2.1", "2001:db8::1", "0.0.0.0", "localhost.example.org", "db", ""] {
            assert!(!is_loopback_host(away), "{away}");
        }
    }
}
