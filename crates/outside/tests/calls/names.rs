//! Names that resolve elsewhere: now, the second time, or for one of several addresses.

use std::net::{IpAddr, Ipv6Addr};
use std::time::{Duration, Instant};

use nightdesk_outside::{CallError, Outside, TenantUrl, UrlRefusal};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use crate::host::{Host, Script};
use crate::name_server::{Answer, NameServer};
use crate::stage::{Authority, LOOPBACK, NAME, get, named, often};

const PRIVATE: &str = "10.0.0.1";

fn address(text: &str) -> IpAddr {
    text.parse().expect("an address")
}

/// Returns a host on loopback, which the rules allow, and a client of this name server.
async fn stage(names: &NameServer) -> (Host, Outside, TenantUrl, Authority) {
    let authority = Authority::new();
    let fine = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n".to_vec();
    let host = Host::secured(authority.issue(&named(NAME)), Script::Say(fine)).await;
    let mut rules = authority.rules(names, &[host.port]);
    rules.rates.insert(NAME.to_owned(), often());
    let outside = Outside::new(rules).expect("good rules");
    let text = format!("https://{NAME}:{}/", host.port);
    let url = TenantUrl::parse(&text, outside.rules()).expect("may be called");
    (host, outside, url, authority)
}

fn is_refused(result: &Result<nightdesk_outside::CallResponse, CallError>) -> bool {
    matches!(result, Err(CallError::Refused(UrlRefusal::NotPublic(_))))
}

#[tokio::test]
async fn a_name_is_looked_up_once_for_a_call_and_anew_for_the_next() {
    let names = NameServer::answering(|_, before| {
        Answer::Addresses(vec![if before == 0 { LOOPBACK } else { address(PRIVATE) }])
    })
    .await;
    let (host, outside, url, _authority) = stage(&names).await;

    assert_eq!(get(&outside, &url).await.expect("the first answer is good").status, 200);
    assert_eq!(names.questions(), 2, "one for each kind of address");
    let second = get(&outside, &url).await;
    assert!(is_refused(&second), "{second:?}");
    assert_eq!(host.accepted(), 1);
}

#[tokio::test]
async fn one_bad_answer_of_several_spoils_them_all() {
    let bad = [PRIVATE, "169.254.169.254", "::1", "fd00::1", "::ffff:10.0.0.1", "64:ff9b::a00:1"];
    for bad in bad.map(address) {
        for answers in [vec![LOOPBACK, bad], vec![bad, LOOPBACK], vec![LOOPBACK, bad, LOOPBACK]] {
            let given = answers.clone();
            let names = NameServer::answering(move |_, _| Answer::Addresses(given.clone())).await;
            let (host, outside, url, _authority) = stage(&names).await;

            let result = get(&outside, &url).await;
            assert!(is_refused(&result), "{answers:?}: {result:?}");
            assert_eq!(host.accepted(), 0, "{answers:?}");
        }
    }
}

#[tokio::test]
async fn an_alias_is_judged_by_where_it_leads() {
    let bad = NameServer::answering(|_, _| Answer::Alias("inside.test", vec![address(PRIVATE)]));
    let bad = bad.await;
    let (host, outside, url, _authority) = stage(&bad).await;
    let result = get(&outside, &url).await;
    assert!(is_refused(&result), "{result:?}");
    assert_eq!(host.accepted(), 0);

    let good = NameServer::answering(|_, _| Answer::Alias("other.test", vec![LOOPBACK])).await;
    let (_host, outside, url, _authority) = stage(&good).await;
    assert_eq!(get(&outside, &url).await.expect("leads to a good one").status, 200);
}

#[tokio::test]
async fn a_name_that_is_not_there_cannot_be_reached() {
    let gone = NameServer::answering(|_, _| Answer::NoSuchName).await;
    let empty = NameServer::answering(|_, _| Answer::Addresses(Vec::new())).await;
    for names in [gone, empty] {
        let (_host, outside, url, _authority) = stage(&names).await;
        let error = get(&outside, &url).await.expect_err("nobody is there");
        assert!(matches!(error, CallError::Unreachable(_)), "{error:?}");
    }
}

#[tokio::test]
async fn a_silent_name_server_holds_nobody_up_for_long() {
    let names = NameServer::answering(|_, _| Answer::Silence).await;
    let (_host, outside, url, _authority) = stage(&names).await;
    let began = Instant::now();

    let error = get(&outside, &url).await.expect_err("no answer");
    assert!(matches!(error, CallError::TimedOut | CallError::Unreachable(_)), "{error:?}");
    assert!(began.elapsed() < Duration::from_millis(5_500), "{:?}", began.elapsed());
}

#[tokio::test]
async fn the_next_address_is_tried_when_nobody_listens_at_the_first() {
    let names = NameServer::answering(|_, _| {
        Answer::Addresses(vec![address("127.0.0.9"), address("127.0.0.8"), LOOPBACK])
    })
    .await;
    let (_host, outside, url, _authority) = stage(&names).await;

    assert_eq!(get(&outside, &url).await.expect("the third answers").status, 200);
}

#[tokio::test]
async fn only_the_first_few_addresses_are_tried() {
    let names = NameServer::answering(|_, _| {
        Answer::Addresses(["127.0.0.9", "127.0.0.8", "127.0.0.7", "127.0.0.1"].map(address).into())
    })
    .await;
    let (host, outside, url, _authority) = stage(&names).await;

    let error = get(&outside, &url).await.expect_err("three are enough");
    assert!(matches!(error, CallError::Unreachable(_)), "{error:?}");
    assert_eq!(host.accepted(), 0);
}

/// Generates answers of a name server: good ones on loopback, bad ones anywhere private.
fn answers() -> impl Strategy<Value = Vec<IpAddr>> {
    let good = (1_u8..=254).prop_map(|last| IpAddr::from([127, 0, 0, last]));
    let private = any::<[u8; 3]>().prop_map(|[b, c, d]| IpAddr::from([10, b, c, d]));
    let local = any::<u64>()
        .prop_map(|low| IpAddr::V6(Ipv6Addr::from_bits((0xfd00 << 112) | u128::from(low))));
    prop::collection::vec(prop_oneof![6 => good, 1 => private, 1 => local], 1..8)
}

#[tokio::test]
async fn whatever_a_name_server_answers_a_bad_address_is_refused() {
    let told = std::sync::Arc::new(std::sync::Mutex::new(Vec::<IpAddr>::new()));
    let telling = std::sync::Arc::clone(&told);
    let names = NameServer::answering(move |_, _| {
        Answer::Addresses(telling.lock().expect("nobody panicked").clone())
    })
    .await;
    let (host, outside, url, _authority) = stage(&names).await;
    let mut runner = TestRunner::deterministic();
    for _ in 0..256 {
        let answers = answers().new_tree(&mut runner).expect("answers").current();
        *told.lock().expect("nobody panicked") = answers.clone();
        let before = host.accepted();

        let result = get(&outside, &url).await;
        let bad =
            answers.iter().any(|address| !matches!(address, IpAddr::V4(v4) if v4.is_loopback()));
        assert_eq!(is_refused(&result), bad, "{answers:?}: {result:?}");
        assert!(!bad || host.accepted() == before, "{answers:?}");
    }
}
