//! Sent requests, read responses, and redirects that are not followed.

use std::fmt::Write;
use std::sync::atomic::AtomicBool;

use bytes::Bytes;
use nightdesk_outside::{CallError, Method, OutsideCall, Rules, TenantUrl, WebhookPost};
use nightdesk_types::limits::{ISSUER_KEYS_BYTES_MAX, OUTSIDE_BODY_BYTES_MAX};
use secrecy::SecretString;

use crate::host::Script;
use crate::stage::{NAME, Stage, TENANT};

fn say(head: &str, body: &[u8]) -> Script {
    let mut all = format!("HTTP/1.1 {head}\r\ncontent-length: {}\r\n\r\n", body.len()).into_bytes();
    all.extend_from_slice(body);
    Script::Say(all)
}

#[tokio::test]
async fn a_get_says_only_what_it_must() {
    let stage = Stage::with(say("200 OK", b"awake")).await;

    let reply = stage.get().await.expect("an answer");
    assert_eq!((reply.status, &*reply.body), (200, &b"awake"[..]));
    let want = format!(
        "GET /wake HTTP/1.1\r\nhost: {NAME}:{}\r\nuser-agent: nightdesk/0.1.0\r\naccept: */*\r\n\
         connection: close\r\n\r\n",
        stage.host.port
    );
    assert_eq!(stage.host.heard(), [want]);
}

#[tokio::test]
async fn a_post_carries_its_bearer_and_its_json() {
    let stage = Stage::with(say("202 Accepted", b"")).await;
    let (url, bearer) = (stage.url("/fire?job=7"), SecretString::from("let-me-in"));
    let body = Some(Bytes::from_static(b"{\"a\":1}"));
    let call = OutsideCall {
        url: &url,
        method: Method::Post,
        bearer: Some(&bearer),
        signature: Some("sha256=00"),
        body,
    };

    let reply = stage.outside.call(TENANT, call).await.expect("an answer");
    assert_eq!((reply.status, reply.body.len()), (202, 0));
    let heard = stage.host.heard().concat();
    assert!(heard.starts_with("POST /fire?job=7 HTTP/1.1\r\n"), "{heard}");
    assert!(heard.contains("\r\nauthorization: Bearer let-me-in\r\n"), "{heard}");
    assert!(heard.contains("\r\nx-signature: sha256=00\r\n"), "{heard}");
    assert!(heard.contains("\r\ncontent-type: application/json\r\n"), "{heard}");
    assert!(heard.ends_with("\r\n\r\n{\"a\":1}"), "{heard}");
}

#[tokio::test]
async fn a_bearer_cannot_smuggle_a_header() {
    let stage = Stage::with(say("200 OK", b"")).await;
    let (url, bearer) = (stage.url("/"), SecretString::from("a\r\nx-admin: yes"));
    let call = OutsideCall {
        url: &url,
        method: Method::Get,
        bearer: Some(&bearer),
        signature: None,
        body: None,
    };

    let error = stage.outside.call(TENANT, call).await.expect_err("is refused");
    assert!(matches!(error, CallError::Refused(_)), "{error:?}");
    assert_eq!(stage.host.heard(), [""; 0]);
}

#[tokio::test]
async fn an_error_status_is_an_answer() {
    for head in ["404 Not Found", "500 Internal Server Error", "503 Service Unavailable"] {
        let stage = Stage::with(say(head, b"no")).await;
        let reply = stage.get().await.expect("an answer");
        assert!(head.starts_with(&reply.status.to_string()), "{head}");
    }
}

#[tokio::test]
async fn a_host_may_say_in_seconds_when_it_wants_to_be_called_again() {
    let cases = [
        ("retry-after: 60", Some(60)),
        ("Retry-After:  0 ", Some(0)),
        ("retry-after: +60", None),
        ("retry-after: 1.5", None),
        ("retry-after: 99999999999999999999999", None),
        ("retry-after: Fri, 31 Dec 2027 23:59:59 GMT", None),
        ("retry-after:", None),
        ("x-other: 60", None),
    ];
    for (header, want) in cases {
        let stage = Stage::with(say(&format!("503 Later\r\n{header}"), b"")).await;
        let reply = stage.get().await.expect("an answer");
        assert_eq!(reply.retry_after.map(|after| after.as_secs()), want, "{header}");
    }
}

#[tokio::test]
async fn nobody_goes_where_a_reply_points() {
    for status in [300, 301, 302, 303, 304, 307, 308] {
        let head = format!("{status} Elsewhere\r\nlocation: https://{NAME}/inside");
        let stage = Stage::with(say(&head, b"<meta http-equiv=refresh content='0;url=/x'>")).await;

        let error = stage.get().await.expect_err("points elsewhere");
        assert!(matches!(error, CallError::Redirected(found) if found == status), "{error:?}");
        assert_eq!(stage.host.accepted(), 1, "{status} was followed");
    }
}

#[tokio::test]
async fn a_page_that_points_elsewhere_is_a_page() {
    let head = "200 OK\r\nrefresh: 0; url=/x\r\ncontent-type: text/html";
    let stage = Stage::with(say(head, b"<meta http-equiv=refresh content='0;url=/x'>")).await;

    assert_eq!(stage.get().await.expect("an answer").status, 200);
    assert_eq!(stage.host.accepted(), 1);
}

#[tokio::test]
async fn so_much_is_read_and_no_more() {
    let at_the_limit = Stage::with(say("200 OK", &[b'x'; OUTSIDE_BODY_BYTES_MAX])).await;
    let reply = at_the_limit.get().await.expect("an answer");
    assert_eq!(reply.body.len(), OUTSIDE_BODY_BYTES_MAX);

    let past_it = Stage::with(say("200 OK", &[b'x'; OUTSIDE_BODY_BYTES_MAX + 1])).await;
    let error = past_it.get().await.expect_err("is too long");
    assert!(matches!(error, CallError::TooLong(_)), "{error:?}");
}

#[tokio::test]
async fn keys_of_an_issuer_may_be_longer_and_not_endless() {
    for (bytes, is_read) in [(ISSUER_KEYS_BYTES_MAX, true), (ISSUER_KEYS_BYTES_MAX + 1, false)] {
        let stage = Stage::with(say("200 OK", &vec![b'x'; bytes])).await;
        let url = stage.url("/jwks");
        assert_eq!(stage.outside.get_document(&url).await.is_ok(), is_read, "{bytes}");
    }
}

#[tokio::test]
async fn a_post_that_was_withdrawn_is_not_written() {
    for (is_withdrawn, calls) in [(false, 1), (true, 0)] {
        let stage = Stage::with(say("200 OK", b"")).await;
        let (url, withdrawn) = (stage.url("/agent"), AtomicBool::new(is_withdrawn));
        let post = WebhookPost {
            url: &url,
            id: "e1",
            timestamp: 0,
            signatures: "v1,x",
            body: "{}".into(),
            withdrawn: &withdrawn,
        };
        let posted = stage.outside.post(TENANT, post).await;
        assert_eq!(matches!(posted, Err(CallError::Withdrawn)), is_withdrawn, "{posted:?}");
        assert_eq!(stage.host.heard().len(), calls);
    }
}

#[tokio::test]
async fn a_body_without_a_length_ends_with_the_connection() {
    let stage = Stage::with(Script::Say(b"HTTP/1.1 200 OK\r\n\r\nawake".to_vec())).await;

    assert_eq!(&*stage.get().await.expect("an answer").body, b"awake");
}

#[tokio::test]
async fn nothing_is_unpacked() {
    let stage =
        Stage::with(say("200 OK\r\ncontent-encoding: gzip", b"\x1f\x8b\x08 not gzip")).await;

    assert_eq!(&*stage.get().await.expect("an answer").body, b"\x1f\x8b\x08 not gzip");
    assert!(!stage.host.heard().concat().contains("accept-encoding"));
}

#[tokio::test]
async fn a_head_without_end_is_given_up() {
    let mut head = "HTTP/1.1 200 OK\r\n".to_owned();
    for number in 0..10_000 {
        write!(head, "x-{number}: y\r\n").expect("memory");
    }
    let stage = Stage::with(Script::Say(head.into_bytes())).await;

    let error = stage.get().await.expect_err("is no answer");
    assert!(matches!(error, CallError::BrokeOff(_)), "{error:?}");
}

#[tokio::test]
async fn what_is_not_http_is_no_answer() {
    for noise in [&b"SSH-2.0-OpenSSH_9.2\r\n"[..], b"+PONG\r\n", b"", b"\0\0\0\0"] {
        let stage = Stage::with(Script::Say(noise.to_vec())).await;
        let error = stage.get().await.expect_err("is no answer");
        assert!(matches!(error, CallError::BrokeOff(_)), "{error:?}");
    }
}

#[tokio::test]
async fn no_error_tells_the_query_or_the_bearer() {
    let stage = Stage::with(Script::Say(b"noise".to_vec())).await;
    let (url, bearer) = (stage.url("/?key=canary-query"), SecretString::from("canary-bearer"));
    let call = OutsideCall {
        url: &url,
        method: Method::Get,
        bearer: Some(&bearer),
        signature: None,
        body: None,
    };
    let shown = format!("{call:?}");

    let error = stage.outside.call(TENANT, call).await.expect_err("is no answer");
    let told = format!("{error} {error:?} {shown} {:?}", stage.outside);
    assert!(!told.contains("canary"), "{told}");
}

#[tokio::test]
async fn what_was_read_under_other_rules_is_judged_by_these() {
    let stage = Stage::with(say("200 OK", b"")).await;
    let others = Rules { http: true, ports: vec![81], ..Rules::default() };
    for text in ["http://agents.test/", "https://agents.test:81/"] {
        let url = TenantUrl::parse(text, &others).expect("those allow it");
        let call = OutsideCall {
            url: &url,
            method: Method::Get,
            bearer: None,
            signature: None,
            body: None,
        };
        let error = stage.outside.call(TENANT, call).await.expect_err("these do not");
        assert!(matches!(error, CallError::Refused(_)), "{text}: {error:?}");
    }
}
