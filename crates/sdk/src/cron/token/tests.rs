use std::sync::LazyLock;

use nightdesk_testkit::fire::{Between, By, Signer, cases, claims, header};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::cron::keys;

const NOW: Timestamp = Timestamp::constant(1_795_003_200, 0);
const FIRE: &str = "0192f0c1-7f7e-7000-8000-00000000000a";

struct Judge {
    signer: Signer,
    between: Between,
    keys: Vec<FireVerifyingKey>,
}

/// Shared by all tests, because creating keys is slow.
static JUDGE: LazyLock<Judge> = LazyLock::new(Judge::new);

impl Judge {
    fn new() -> Self {
        let signer = Signer::default();
        let keys = keys::read(signer.jwks().to_string().as_bytes()).unwrap();
        let between =
            Between { issuer: "https://desk.example".to_owned(), audience: "agent:a1".to_owned() };
        Self { signer, between, keys }
    }

    /// Verifies as the door does, without a desk.
    fn judge(&self, token: &str) -> Result<Uuid, BadToken> {
        let kid = read_key_id(token)?;
        let key = self.keys.iter().find(|key| key.kid == kid).ok_or(BadToken::UnknownKey)?;
        let Between { issuer, audience } = self.between.clone();
        verify(token, key, &ExpectedFireClaims { issuer, audience }, NOW)
    }

    fn says(&self, claims: &Value) -> Result<Uuid, BadToken> {
        self.judge(&self.signer.sign(By::Es256, &header(By::Es256), claims))
    }
}

#[test]
fn believes_what_the_desk_signed_for_this_agent_and_nothing_else() {
    let judge = &*JUDGE;
    let cases = cases(&judge.signer, &judge.between, FIRE, NOW.as_second());
    assert!(cases.len() > 50, "{}", cases.len());
    for case in cases {
        let judged = judge.judge(&case.token);
        assert_eq!(judged.is_ok(), case.good, "{}: {judged:?}", case.name);
        assert!(judged.is_err() || judged.unwrap().to_string() == FIRE, "{}", case.name);
    }
}

#[test]
fn a_token_has_thirty_seconds_at_either_end() {
    let judge = &*JUDGE;
    let now = NOW.as_second();
    let life = i64::try_from(FIRE_TOKEN_LIFE_MAX.as_secs()).unwrap();
    let cases = [
        ("exp", now - 29, true),
        ("exp", now - 30, false),
        ("exp", now + life + 30, true),
        ("exp", now + life + 31, false),
        ("exp", i64::MAX, false),
        ("exp", i64::MIN, false),
        ("nbf", now + 30, true),
        ("nbf", now + 31, false),
        ("nbf", i64::MIN, true),
        ("iat", now + 30, true),
        ("iat", now + 31, false),
        ("iat", i64::MAX, false),
    ];
    for (name, at, want) in cases {
        let mut claims = claims(&judge.between, FIRE, now);
        claims[name] = at.into();
        let judged = judge.says(&claims);
        assert_eq!(judged.is_ok(), want, "{name} {}", at.saturating_sub(now));
        assert!(want || judged == Err(BadToken::NotNow), "{name}");
    }
}

#[test]
fn a_token_has_its_length() {
    let judge = &*JUDGE;
    let good = judge.signer.good(&judge.between, FIRE, NOW.as_second());
    assert!(good.len() < 1_024, "{}", good.len());

    assert_eq!(read_key_id(&"x".repeat(FIRE_TOKEN_BYTES_MAX)), Err(BadToken::OtherKind));
    assert_eq!(read_key_id(&"x".repeat(FIRE_TOKEN_BYTES_MAX + 1)), Err(BadToken::TooLong));
}

/// Generates an odd value for a claim.
fn odd() -> impl Strategy<Value = Value> {
    let now = NOW.as_second();
    prop_oneof![
        Just(Value::Null),
        Just(json!([])),
        Just(json!({})),
        Just(json!(["agent:a1"])),
        Just(json!("agent:a1")),
        Just(json!("https://desk.example")),
        Just(json!("cron_fire")),
        Just(json!(FIRE)),
        any::<bool>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        (now - 100..now + 1_000).prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
    ]
}

/// A second implementation, written from the contract.
fn is_right(claims: &Value) -> bool {
    let (now, text) = (NOW.as_second(), |name: &str| claims[name].as_str());
    let aud = &claims["aud"];
    let list = aud.as_array().filter(|list| list.iter().all(Value::is_string));
    let for_us = aud == "agent:a1" || list.is_some_and(|list| list.contains(&json!("agent:a1")));
    let begun = |name: &str| match claims.get(name) {
        None => true,
        Some(at) => at.as_i64().is_some_and(|at| at <= now + 30),
    };
    let ends = claims["exp"].as_i64();
    for_us
        && text("iss") == Some("https://desk.example")
        && text("purpose") == Some("cron_fire")
        && text("jti") == Some(FIRE)
        && claims.get("sub").is_none_or(Value::is_string)
        && ends.is_some_and(|at| at > now - 30 && at <= now + 630)
        && begun("nbf")
        && begun("iat")
}

proptest! {
    /// For any claims that the desk signs: a token is accepted if and only if every required claim is present, typed
    /// and right.
    #[test]
    fn what_is_believed_is_right_in_every_claim(
        changes in proptest::collection::vec((0_usize..8, proptest::option::of(odd())), 0..3),
    ) {
        let judge = &*JUDGE;
        let mut claims = claims(&judge.between, FIRE, NOW.as_second());
        for (claim, value) in changes {
            let name = ["iss", "aud", "purpose", "jti", "exp", "nbf", "iat", "sub"][claim];
            match value {
                Some(value) => claims[name] = value,
                None => drop(claims.as_object_mut().unwrap().remove(name)),
            }
        }
        prop_assert_eq!(judge.says(&claims).is_ok(), is_right(&claims), "{}", claims);
    }

    #[test]
    fn no_token_that_was_tampered_with_is_believed(at in 0_usize..400, to in "[A-Za-z0-9_.-]") {
        let judge = &*JUDGE;
        let good = judge.signer.good(&judge.between, FIRE, NOW.as_second());
        let at = at % good.len();
        let mut bad = good.clone();
        bad.replace_range(at..=at, &to);
        prop_assert!(bad == good || judge.judge(&bad).is_err(), "{}", bad);
    }

    #[test]
    fn no_noise_is_believed(noise in "[ -~]{0,200}") {
        prop_assert!(JUDGE.judge(&noise).is_err());
    }
}

/// The vectors that every SDK reads.
#[derive(serde::Deserialize)]
struct Vectors {
    now: i64,
    fire_id: String,
    issuer: String,
    audience: String,
    jwks: Value,
    cases: Vec<Vector>,
}

#[derive(serde::Deserialize)]
struct Vector {
    name: String,
    token: String,
    good: bool,
}

const VECTORS: &str = include_str!("../../../../protocol/tests/vectors/fire_tokens.json");

#[test]
fn judges_the_vectors_as_every_sdk_does() {
    let vectors: Vectors = serde_json::from_str(VECTORS).unwrap();
    let keys = keys::read(vectors.jwks.to_string().as_bytes()).unwrap();
    let Vectors { issuer, audience, now, .. } = vectors;
    let judge = |token: &str| {
        let kid = read_key_id(token)?;
        let key = keys.iter().find(|key| key.kid == kid).ok_or(BadToken::UnknownKey)?;
        let wanted = ExpectedFireClaims { issuer: issuer.clone(), audience: audience.clone() };
        verify(token, key, &wanted, Timestamp::from_second(now).unwrap())
    };
    for vector in vectors.cases {
        let judged = judge(&vector.token);
        assert_eq!(judged.is_ok(), vector.good, "{}: {judged:?}", vector.name);
        assert!(
            judged.is_err() || judged.unwrap().to_string() == vectors.fire_id,
            "{}",
            vector.name
        );
    }
}

#[test]
fn the_vectors_are_those_of_the_table() {
    let vectors: Vectors = serde_json::from_str(VECTORS).unwrap();
    let (judge, now) = (&*JUDGE, vectors.now);
    let table = cases(&judge.signer, &judge.between, &vectors.fire_id, now);

    // Keys and signatures are new in each run.
    let said = |token: &str| token.split('.').take(2).collect::<Vec<_>>().join(".");
    let kept: Vec<_> =
        vectors.cases.iter().map(|case| (&*case.name, case.good, said(&case.token))).collect();
    let made: Vec<_> = table.iter().map(|case| (case.name, case.good, said(&case.token))).collect();
    assert_eq!(kept, made, "run `just gen-fire-tokens`");
}
