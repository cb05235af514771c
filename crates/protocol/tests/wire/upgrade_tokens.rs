//! The 25 tokens that 0.19.0 created and verified.

use nightdesk_protocol::upgrade_token::{UPGRADE_TTL_SECS, UpgradeToken, make};
use nightdesk_types::Timestamp;
use serde::Deserialize;

#[derive(Deserialize)]
struct Case {
    name: String,
    now_at_mint: i64,
    payload: String,
    secret: String,
    ttl_seconds: Option<i64>,
    token: String,
    verify: Vec<Verify>,
}

#[derive(Deserialize)]
struct Verify {
    secrets: Vec<String>,
    now: i64,
    payload: Option<String>,
}

/// The cases whose token was changed after its creation.
const ALTERED: [&str; 11] = [
    "tampered last hex digit",
    "upper-case hex signature accepted",
    "expiry extended without re-signing",
    "with padding kept",
    "truncated token",
    "garbage",
    "two parts only",
    "exp not a number",
    "exp with spaces/plus parses in python int()",
    "empty signature",
    "standard-alphabet chars",
];

fn cases() -> Vec<Case> {
    let vectors = include_str!("../vectors/upgrade_tokens.json");
    serde_json::from_str(vectors).expect("the vectors are readable")
}

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).expect("a second of our time")
}

#[test]
fn makes_the_tokens_of_the_stock_client() {
    let minted: Vec<_> =
        cases().into_iter().filter(|case| !ALTERED.contains(&case.name.as_str())).collect();
    assert_eq!(minted.len(), 25 - ALTERED.len());

    for case in minted {
        let ttl_secs = case.ttl_seconds.unwrap_or(UPGRADE_TTL_SECS);
        let made = make(&case.payload, case.secret.as_bytes(), ttl_secs, at(case.now_at_mint));
        assert_eq!(made.expose(), case.token, "{}", case.name);
    }
}

#[test]
fn judges_tokens_as_the_stock_client_does() {
    let cases = cases();
    assert_eq!(cases.len(), 25);

    for case in cases {
        for Verify { secrets, now, payload } in case.verify {
            let token = UpgradeToken::peek(&case.token);
            let matched = token.as_ref().and_then(|token| token.verify(&secrets, at(now)));

            let gateway = matched.and(token.as_ref()).map(UpgradeToken::gateway);
            assert_eq!(gateway, payload.as_deref(), "{} at {now}", case.name);
            let signed_by = matched.map(|index| secrets[index].as_str());
            assert_eq!(signed_by, payload.map(|_| case.secret.as_str()), "{}", case.name);
        }
    }
}
