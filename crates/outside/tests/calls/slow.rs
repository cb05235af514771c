//! Slow hosts, on real time: the test measures that a timeout is not exceeded.

use std::time::{Duration, Instant};

use nightdesk_outside::{CallError, CallResponse, Outside, TenantUrl};
use nightdesk_types::limits::{OUTSIDE_CALL_WAIT, OUTSIDE_CONNECT_WAIT};
use tokio::task::JoinSet;

use crate::host::{Host, Script};
use crate::name_server::{Answer, NameServer};
use crate::stage::{Authority, LOOPBACK, Stage, get, named};

/// The delay that a busy machine may add.
const LEEWAY: Duration = Duration::from_secs(1);

async fn timed(stage: &Stage) -> (Result<CallResponse, CallError>, Duration) {
    let began = Instant::now();
    (stage.get().await, began.elapsed())
}

async fn gives_up_within(script: Script, wait: Duration) -> CallError {
    let stage = Stage::with(script).await;

    let (result, took) = timed(&stage).await;
    assert!(took >= wait && took < wait + LEEWAY, "{took:?}");
    result.expect_err("no response")
}

async fn times_out(script: Script) {
    let error = gives_up_within(script, OUTSIDE_CALL_WAIT).await;
    assert!(matches!(error, CallError::TimedOut), "{error:?}");
}

#[tokio::test]
async fn a_host_that_says_nothing_is_given_up() {
    times_out(Script::Hang).await;
}

#[tokio::test]
async fn a_body_that_comes_byte_by_byte_is_given_up() {
    let head = "HTTP/1.1 200 OK\r\ncontent-length: 3600\r\n\r\n";
    times_out(Script::Drip(head)).await;
}

#[tokio::test]
async fn a_head_that_comes_byte_by_byte_is_given_up() {
    times_out(Script::Drip("HTTP/1.1 200 OK\r\nx-")).await;
}

#[tokio::test]
async fn a_host_whose_handshake_never_comes_is_unreachable() {
    let error = gives_up_within(Script::HangBeforeTls, OUTSIDE_CONNECT_WAIT).await;
    assert!(matches!(error, CallError::Unreachable(_)), "the request was not begun: {error:?}");
}

#[tokio::test]
async fn an_endless_body_is_left_at_once() {
    let heads = [
        "HTTP/1.1 200 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: 10737418240\r\n\r\n",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n40000000\r\n",
    ];
    for head in heads {
        let stage = Stage::with(Script::Flood(head)).await;

        let (result, took) = timed(&stage).await;
        assert!(matches!(result, Err(CallError::TooLong(_))), "{head}: {result:?}");
        assert!(took < Duration::from_secs(2), "{head}: {took:?}");
        assert!(stage.host.said_bytes() < 16 * 1024 * 1024, "{head}: the socket's buffers at most");
    }
}

#[tokio::test]
async fn a_tenants_places_are_free_again_when_slow_hosts_were_given_up() {
    let authority = Authority::new();
    let slow = Host::secured(authority.issue(&named("*.agents.test")), Script::Hang).await;
    let names = NameServer::answering(|_, _| Answer::Addresses(vec![LOOPBACK])).await;
    let outside = Outside::new(authority.rules(&names, &[slow.port])).expect("good rules");
    let url = |number: u32| {
        let text = format!("https://{number}.agents.test:{}/", slow.port);
        TenantUrl::parse(&text, outside.rules()).expect("may be called")
    };
    let began = Instant::now();

    let mut four = JoinSet::new();
    for url in [url(1), url(2), url(3), url(4)] {
        let outside = outside.clone();
        four.spawn(async move { get(&outside, &url).await });
    }
    while slow.heard().len() < 4 {
        tokio::task::yield_now().await;
    }
    let busy = get(&outside, &url(5)).await;
    assert!(matches!(busy, Err(CallError::Busy { .. })), "{busy:?}");
    let ended = four.join_all().await;
    assert!(ended.iter().all(|result| matches!(result, Err(CallError::TimedOut))), "{ended:?}");
    assert!(began.elapsed() < OUTSIDE_CALL_WAIT + LEEWAY, "{:?}", began.elapsed());

    let sixth = url(6);
    tokio::select! {
        ended = get(&outside, &sixth) => panic!("it was told to wait: {ended:?}"),
        () = async { while slow.heard().len() < 5 { tokio::task::yield_now().await } } => {}
    }
}
