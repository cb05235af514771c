//! The rules allow exactly what the operator set.

use super::*;
use crate::tenant_url::TenantUrl;

fn rules(json: &str) -> Rules {
    serde_json::from_str(json).expect("rules")
}

fn parse(text: &str, json: &str) -> Result<(), UrlRefusal> {
    TenantUrl::parse(text, &rules(json)).map(drop)
}

fn led_to(host: &str, address: &str, json: &str) -> Result<(), UrlRefusal> {
    let host = Host::parse(host).expect("a host");
    rules(json).check_address(&host, address.parse().expect("an address"))
}

fn is_not_public(result: Result<(), UrlRefusal>) -> bool {
    matches!(result, Err(UrlRefusal::NotPublic(_)))
}

#[test]
fn http_and_ports_allow_what_they_name_and_no_more() {
    let http = r#"{"http": true}"#;
    assert_eq!(parse("http://agents.example/", http), Ok(()));
    assert_eq!(parse("https://agents.example/", http), Ok(()));
    assert_eq!(parse("https://agents.example:8080/", http), Err(UrlRefusal::Port(8080)));
    assert!(is_not_public(parse("http://127.0.0.1/", http)));

    let ports = r#"{"ports": [8443]}"#;
    assert_eq!(parse("https://agents.example:8443/", ports), Ok(()));
    assert_eq!(parse("https://agents.example:443/", ports), Ok(()));
    assert_eq!(parse("https://agents.example:8444/", ports), Err(UrlRefusal::Port(8444)));
    assert_eq!(parse("http://agents.example:8443/", ports), Err(UrlRefusal::NotHttps));
}

#[test]
fn ranges_and_hosts_allow_what_they_name_and_no_more() {
    let ranges = r#"{"ranges": ["192.168.1.0/24", "fd00::/64"]}"#;
    assert_eq!(parse("https://192.168.1.20/", ranges), Ok(()));
    assert_eq!(parse("https://[fd00::20]/", ranges), Ok(()));
    assert!(is_not_public(parse("https://192.168.2.20/", ranges)));
    assert!(is_not_public(parse("https://[::ffff:192.168.1.20]/", ranges)));

    let hosts = r#"{"hosts": ["agents.lan", "nas", "10.0.0.5"]}"#;
    assert_eq!(led_to("agents.lan", "192.168.1.20", hosts), Ok(()));
    assert_eq!(parse("https://nas/", hosts), Ok(()));
    assert_eq!(parse("https://10.0.0.5/", hosts), Ok(()));
    assert!(is_not_public(parse("https://10.0.0.6/", hosts)));
    assert!(is_not_public(led_to("x.agents.lan", "192.168.1.20", hosts)));
}

#[test]
fn own_addresses_stay_closed_whatever_else_is_allowed() {
    let own =
        r#"{"own": ["10.0.0.5", "93.184.216.34"], "ranges": ["10.0.0.0/8"], "hosts": ["nas"]}"#;

    assert_eq!(led_to("a.example", "10.0.0.6", own), Ok(()));
    assert_eq!(led_to("a.example", "10.0.0.5", own), Err(UrlRefusal::Ourselves));
    assert_eq!(led_to("a.example", "93.184.216.34", own), Err(UrlRefusal::Ourselves));
    assert_eq!(led_to("a.example", "::ffff:10.0.0.5", own), Err(UrlRefusal::Ourselves));
    assert_eq!(led_to("a.example", "64:ff9b::10.0.0.5", own), Err(UrlRefusal::Ourselves));
    assert_eq!(led_to("nas", "10.0.0.5", own), Err(UrlRefusal::Ourselves));
}

#[test]
fn what_travels_inside_an_allowed_address_must_be_allowed_too() {
    let nat64 = r#"{"ranges": ["64:ff9b::/96", "2002::/16", "2001::/32"]}"#;

    assert_eq!(led_to("a.example", "64:ff9b::8.8.8.8", nat64), Ok(()));
    assert!(is_not_public(led_to("a.example", "64:ff9b::10.0.0.1", nat64)));
    assert!(is_not_public(led_to("a.example", "64:ff9b::169.254.169.254", nat64)));
    assert!(is_not_public(led_to("a.example", "2002:7f00:1::1", nat64)));
    assert!(is_not_public(led_to("a.example", "2001:0:808:808::80ff:fffe", nat64)));
}

#[test]
fn a_key_nobody_knows_is_an_error() {
    let wrong: Result<Rules, _> = serde_json::from_str(r#"{"allow_all": true}"#);

    assert!(wrong.expect_err("is refused").to_string().contains("allow_all"));
}

#[test]
fn a_host_that_no_url_has_is_an_error() {
    for host in ["Agents.lan", "agents.lan:8443", "https://agents.lan", "[::1]", "0x7f.1", "a b"] {
        let named = Rules { hosts: vec![host.to_owned()], ..Rules::default() };
        assert!(matches!(named.check_names(), Err(SetUpError::Host(_))), "{host}");
    }
    let fine = ["agents.lan", "nas", "10.0.0.5", "::1", "xn--bcher-kva.example"];
    let named = Rules { hosts: fine.map(str::to_owned).into(), ..Rules::default() };
    assert!(named.check_names().is_ok());
}
