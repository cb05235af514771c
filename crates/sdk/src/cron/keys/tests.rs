use std::time::Duration;

use nightdesk_testkit::fire::Signer;
use serde_json::json;

use super::*;

fn keys() -> Vec<FireVerifyingKey> {
    read(Signer::default().jwks().to_string().as_bytes()).unwrap()
}

#[test]
fn takes_keys_that_sign_in_a_way_we_know_and_passes_over_the_rest() {
    let kids: Vec<_> = keys().into_iter().map(|key| (key.kid, key.algorithm)).collect();

    let known = [("desk-1", Algorithm::ES256), ("desk-rsa", Algorithm::RS256)];
    assert_eq!(kids, known.map(|(kid, algorithm)| (kid.to_owned(), algorithm)));
}

#[test]
fn a_key_that_is_not_whole_is_no_key() {
    let good = Signer::default().jwks()["keys"][0].clone();
    let with = |name: &str, value: Value| {
        let mut key = good.clone();
        key[name] = value;
        key
    };
    let cases = [
        ("good", good.clone(), true),
        ("without a use", with("use", Value::Null), true),
        ("for sealing", with("use", json!("enc")), false),
        ("for another algorithm", with("alg", json!("ES384")), false),
        ("without a name", with("kid", Value::Null), false),
        ("with an empty one", with("kid", json!("")), false),
        ("with a long one", with("kid", json!("k".repeat(KID_BYTES_MAX + 1))), false),
        ("on another curve", with("crv", json!("P-384")), false),
        ("a number", json!(7), false),
    ];
    for (name, key, want) in cases {
        assert_eq!(FireVerifyingKey::read(key).is_some(), want, "{name}");
    }
    let short = json!({"kty": "RSA", "kid": "r", "n": "x".repeat(171), "e": "AQAB"});
    assert!(FireVerifyingKey::read(short).is_none(), "1,024 bits");
}

#[test]
fn a_set_has_bounds_and_a_name_is_one_keys() {
    let good = Signer::default().jwks()["keys"][0].clone();
    let set = |keys: Vec<Value>| read(json!({ "keys": keys }).to_string().as_bytes());

    assert_eq!(set(vec![good.clone(); 2]).unwrap().len(), 0);
    let others = |count| vec![json!({"kty": "other"}); count];
    assert!(set(others(KEYS_MAX)).is_some());
    assert!(set(others(KEYS_MAX + 1)).is_none());
    assert!(read(b"no keys").is_none());
}

#[test]
fn looks_again_for_a_new_name_but_not_all_the_time() {
    let began = Instant::now();
    let at = |secs| began + Duration::from_secs(secs);
    let mut kept = KeyCache::default();
    assert!(kept.begin_read("desk-1", at(0)));
    kept.store_keys(keys(), at(0));

    let every = KEYS_READ_EVERY.as_secs();
    assert!(!kept.needs_read("desk-1", at(every)), "it is known");
    assert!(!kept.needs_read("other", at(every - 1)), "somebody just looked");
    assert!(kept.begin_read("other", at(every)));
    assert!(!kept.begin_read("other", at(every + 1)));
    assert!(matches!(kept.usable_key("other", at(every + 1)), Ok(None)));
    let fresh = KEYS_FRESH_FOR.as_secs();
    assert!(!kept.needs_read("desk-1", at(fresh - 1)) && kept.needs_read("desk-1", at(fresh)));
}

#[test]
fn a_key_is_used_on_for_a_day_when_it_cannot_be_read_again() {
    let began = Instant::now();
    let mut kept = KeyCache::default();
    assert!(matches!(kept.usable_key("desk-1", began), Err(Unavailable)), "nothing is known yet");
    kept.store_keys(keys(), began);

    let second = Duration::from_secs(1);
    let is_known = |at| matches!(kept.usable_key("desk-1", at), Ok(Some(_)));
    assert!(is_known(began + KEYS_STALE_FOR - second));
    assert!(!is_known(began + KEYS_STALE_FOR));
    let stale = began + KEYS_FRESH_FOR;
    assert!(matches!(kept.usable_key("other", stale), Err(Unavailable)), "it may have come since");
}
