//! For any token and any published keys: an accepted token was signed by the key of that name, for that key's use, and
//! all its claims are right. An independent implementation decides here.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED, RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents, UnparsedPublicKey,
};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};

use super::super::claims::tests::{claims as said, is_right};
use super::super::test_pair::{ISSUER, NOW, Pair, claims, set};
use super::tests::trusting_text;
use super::*;
use crate::forged::with;

static PAIRS: LazyLock<[Pair; 2]> = LazyLock::new(|| [Pair::es256("e1"), Pair::rs256("r1")]);
static KEYS: LazyLock<[Value; 2]> = LazyLock::new(|| PAIRS.each_ref().map(Pair::jwk));

/// Selects the RSA pair rarely, because RSA signs slowly.
fn pair() -> impl Strategy<Value = usize> {
    prop_oneof![9 => Just(0), 1 => Just(1)]
}

/// Generates an odd value for a header or a key.
fn oddity() -> impl Strategy<Value = Value> {
    let texts =
        ["e1", "r1", "", "ES256", "RS256", "none", "HS256", "sig", "enc", "EC", "RSA", "P-256"];
    prop_oneof![
        prop::sample::select(texts.to_vec()).prop_map(|text| json!(text)),
        Just(Value::Null),
        Just(json!(7)),
        Just(json!(["e1"])),
        "[A-Za-z0-9_-]{1,90}".prop_map(|text| json!(text)),
    ]
}

fn changes(names: &[&'static str]) -> impl Strategy<Value = Value> + use<> {
    let changed = prop::collection::btree_map(prop::sample::select(names.to_vec()), oddity(), 0..3);
    changed.prop_map(|changed| json!(changed))
}

/// Generates a token that one of the keys correctly signed, with any content.
fn signed() -> impl Strategy<Value = String> {
    let header = changes(&["alg", "kid", "typ", "crit", "jku"]);
    let body = prop_oneof![
        2 => Just(claims()),
        1 => said().prop_map(|said| json!(said)),
    ];
    (pair(), header, body).prop_map(|(pair, header, body)| {
        let pair = &PAIRS[pair];
        pair.signed(&with(pair.header(), &header).to_string(), &body.to_string())
    })
}

/// Generates a token with one letter replaced.
fn damaged() -> impl Strategy<Value = String> {
    (signed(), any::<prop::sample::Index>(), any::<char>()).prop_map(|(token, at, letter)| {
        let mut letters: Vec<char> = token.chars().collect();
        *at.get_mut(&mut letters) = letter;
        letters.into_iter().collect()
    })
}

fn tokens() -> impl Strategy<Value = String> {
    prop_oneof![4 => signed(), 2 => damaged(), 1 => "[A-Za-z0-9_.-]{0,200}"]
}

/// Generates an issuer's published text: its keys, or something similar.
fn published() -> impl Strategy<Value = Vec<u8>> {
    let names = ["kid", "kty", "crv", "alg", "use", "n", "e", "x", "y"];
    let key = (0..2_usize, prop_oneof![2 => Just(json!({})), 1 => changes(&names)])
        .prop_map(|(pair, changes)| with(KEYS[pair].clone(), &changes));
    let keys = prop::collection::vec(key, 0..4).prop_map(|keys| set(&keys));
    let whole = Just(set(&*KEYS));
    let noise = prop::collection::vec(any::<u8>(), 0..64);
    prop_oneof![4 => whole, 4 => keys, 1 => noise]
}

fn decoded(part: Option<&str>) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(part?).ok()
}

/// Returns true if a usable key of the set with the key name in the token signed it with its own algorithm.
fn is_signed(token: &str, published: &[u8]) -> Option<bool> {
    let (message, signature) = token.rsplit_once('.')?;
    let header: Value = serde_json::from_slice(&decoded(message.split('.').next())?).ok()?;
    let set: Value = serde_json::from_slice(published).ok()?;
    let named = set["keys"].as_array()?.iter().filter(|key| key["kid"] == header["kid"]);
    let signature = decoded(Some(signature))?;
    let mut usable = named.filter(|key| key.get("use").is_none_or(|used| used == "sig"));
    Some(usable.any(|key| verifies(key, &header, message.as_bytes(), &signature) == Some(true)))
}

fn verifies(key: &Value, header: &Value, message: &[u8], signature: &[u8]) -> Option<bool> {
    let part = |name: &str| decoded(key[name].as_str());
    let (algorithm, verified) = if key["kty"] == "EC" && key["crv"] == "P-256" {
        let point = [vec![4], part("x")?, part("y")?].concat();
        let key = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point);
        ("ES256", key.verify(message, signature).is_ok())
    } else {
        let key = RsaPublicKeyComponents { n: part("n")?, e: part("e")? };
        ("RS256", key.verify(&RSA_PKCS1_2048_8192_SHA256, message, signature).is_ok())
    };
    let is_for = key.get("alg").is_none_or(|said| said == algorithm);
    Some(verified && is_for && header["alg"] == algorithm)
}

fn claims_of(token: &str) -> Option<BTreeMap<String, Value>> {
    serde_json::from_slice(&decoded(token.split('.').nth(1))?).ok()
}

/// Returns the desk's result for a token while an issuer publishes this text.
fn judged(token: &str, published: Vec<u8>) -> Option<AcceptedClaims> {
    static RUNTIME: LazyLock<Runtime> =
        LazyLock::new(|| Builder::new_current_thread().enable_time().build().unwrap());
    let now = Timestamp::from_second(NOW).unwrap();
    RUNTIME.block_on(trusting_text(published).verify_token(token, now)).ok().flatten()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    // Z12
    #[test]
    fn what_is_believed_was_signed_and_is_right(token in tokens(), published in published()) {
        let judged = judged(&token, published.clone());
        if let Some(judged) = judged {
            prop_assert_eq!(is_signed(&token, &published), Some(true), "{}", token);
            let said = claims_of(&token).unwrap();
            prop_assert!(is_right(&said), "{:?}", said);
            prop_assert_eq!(said["iss"].as_str(), Some(ISSUER));
            prop_assert_eq!(said["tid"].as_str(), Some(judged.tenant.as_str()));
        }
    }
}

/// Guards against a desk that accepts no token, for which the property above would hold too.
#[test]
fn many_of_the_tokens_are_believed() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let believed = (0..200).filter(|_| {
        let (tokens, published) =
            (tokens().new_tree(&mut runner), published().new_tree(&mut runner));
        let (token, published) = (tokens.unwrap().current(), published.unwrap().current());
        judged(&token, published).is_some()
    });
    let believed = believed.count();
    assert!((10..190).contains(&believed), "{believed} of 200");
}
