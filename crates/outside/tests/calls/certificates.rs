//! The certificates that a call trusts.

use nightdesk_outside::{CallError, Outside, TenantUrl};
use rcgen::{CertificateParams, date_time_ymd};

use crate::host::{Certificate, Host, Script};
use crate::name_server::{Answer, NameServer};
use crate::stage::{Authority, LOOPBACK, NAME, get, named};

fn fine() -> Script {
    Script::Say(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n".to_vec())
}

/// Calls a host that presents this certificate, and returns the result.
async fn call(authority: &Authority, certificate: Certificate) -> (Host, Result<u16, CallError>) {
    let host = Host::secured(certificate, fine()).await;
    let names = NameServer::answering(|_, _| Answer::Addresses(vec![LOOPBACK])).await;
    let outside = Outside::new(authority.rules(&names, &[host.port])).expect("good rules");
    let text = format!("https://{NAME}:{}/", host.port);
    let url = TenantUrl::parse(&text, outside.rules()).expect("may be called");
    let status = get(&outside, &url).await.map(|reply| reply.status);
    (host, status)
}

fn expired() -> CertificateParams {
    let mut params = named(NAME);
    params.not_before = date_time_ymd(2020, 1, 1);
    params.not_after = date_time_ymd(2021, 1, 1);
    params
}

#[tokio::test]
async fn a_certificate_must_be_valid_for_the_host_and_issued_by_somebody_trusted() {
    let authority = Authority::new();
    let cases = [
        ("of a stranger", Authority::new().issue(&named(NAME))),
        ("of its own", Certificate::self_signed(&named(NAME))),
        ("for another name", authority.issue(&named("other.test"))),
        ("for its address", authority.issue(&named("127.0.0.1"))),
        ("that ran out", authority.issue(&expired())),
    ];
    for (name, certificate) in cases {
        let (host, status) = call(&authority, certificate).await;
        assert!(matches!(status, Err(CallError::Tls(_))), "{name}: {status:?}");
        assert_eq!(host.heard(), [""; 0], "{name}: was told something");
    }
    let (_, status) = call(&authority, authority.issue(&named(NAME))).await;
    assert_eq!(status.expect("is trusted"), 200);
}

#[tokio::test]
async fn an_address_in_a_url_is_the_name_on_the_certificate() {
    let authority = Authority::new();
    let host = Host::secured(authority.issue(&named("127.0.0.1")), fine()).await;
    let names = NameServer::answering(|_, _| Answer::NoSuchName).await;
    let outside = Outside::new(authority.rules(&names, &[host.port])).expect("good rules");
    let text = format!("https://127.0.0.1:{}/", host.port);
    let url = TenantUrl::parse(&text, outside.rules()).expect("may be called");

    assert_eq!(get(&outside, &url).await.expect("an answer").status, 200);
    assert_eq!(names.questions(), 0, "an address needs no look-up");
}

#[tokio::test]
async fn who_speaks_no_tls_is_told_nothing() {
    let authority = Authority::new();
    let host = Host::plain(fine()).await;
    let names = NameServer::answering(|_, _| Answer::Addresses(vec![LOOPBACK])).await;
    let outside = Outside::new(authority.rules(&names, &[host.port])).expect("good rules");
    let text = format!("https://{NAME}:{}/secret", host.port);
    let url = TenantUrl::parse(&text, outside.rules()).expect("may be called");
    // The host waits for the end of a request that never arrives, and the client for a handshake.
    let error = get(&outside, &url).await.expect_err("no handshake");

    assert!(matches!(error, CallError::Unreachable(_)), "{error:?}");
    assert!(!host.heard().concat().contains("secret"));
}

#[tokio::test]
async fn http_is_called_in_the_clear_where_the_operator_allows_it() {
    let authority = Authority::new();
    let host = Host::plain(fine()).await;
    let names = NameServer::answering(|_, _| Answer::Addresses(vec![LOOPBACK])).await;
    let mut rules = authority.rules(&names, &[host.port]);
    rules.http = true;
    let outside = Outside::new(rules).expect("good rules");
    let text = format!("http://{NAME}:{}/", host.port);
    let url = TenantUrl::parse(&text, outside.rules()).expect("may be called");

    assert_eq!(get(&outside, &url).await.expect("an answer").status, 200);
}
