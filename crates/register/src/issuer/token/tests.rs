//! Tokens that an attacker might present.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::crypto;
use nightdesk_vault::Vault;
use serde_json::{Value, json};

use super::super::key::{self, KeyAlgorithm};
use super::*;
use crate::forged::{self, flipped, with};

const NOW: i64 = 1_800_000_000;
const ISSUER: &str = "https://desk.example.org";

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

fn new_key() -> SigningKey {
    let vault = Vault::from_key_file(&Vault::new_key_file()).unwrap();
    SigningKey::open(&vault, &key::make(&vault, KeyAlgorithm::Es256, 1, at(NOW - 10))).unwrap()
}

fn header(key: &SigningKey) -> Value {
    json!({ "typ": TYPE, "alg": "ES256", "kid": key.kid })
}

fn claims() -> Value {
    json!({
        "iss": ISSUER, "aud": AUDIENCE, "sub": "c1", "tenant": "t1", "jti": "j1",
        "iat": NOW, "nbf": NOW, "exp": NOW + 3600,
    })
}

/// Returns a token of these texts, correctly signed by the key.
fn signed(key: &SigningKey, header: &str, claims: &str) -> String {
    let message = format!("{}.{}", URL_SAFE_NO_PAD.encode(header), URL_SAFE_NO_PAD.encode(claims));
    let signature =
        crypto::sign(message.as_bytes(), &key.signing, key.algorithm.token_algorithm()).unwrap();
    format!("{message}.{signature}")
}

fn judged(token: &str, key: SigningKey) -> Result<AccessTokenClaims, BadToken> {
    verify(token, &[key], ISSUER, at(NOW))
}

#[test]
fn what_we_sign_we_know_again() {
    let (old, new) = (new_key(), new_key());
    let mut next = new_key();
    next.used_from = at(NOW + 60);
    let want: AccessTokenClaims = serde_json::from_value(claims()).unwrap();
    let new_kid = new.kid.clone();
    let keys = [old, new, next];

    let token = sign(&want, &keys, KeyAlgorithm::Es256, at(NOW)).unwrap().with(str::to_owned);
    assert_eq!(decode_header(&token).unwrap().kid, Some(new_kid), "not the one to come");
    assert_eq!(verify(&token, &keys, ISSUER, at(NOW)).as_ref(), Ok(&want));
    assert!(sign(&want, &keys[2..], KeyAlgorithm::Es256, at(NOW)).is_none(), "none is in use yet");
}

#[test]
fn a_key_of_either_algorithm_signs_for_itself_alone() {
    let vault = Vault::from_key_file(&Vault::new_key_file()).unwrap();
    let open = |algorithm| {
        SigningKey::open(&vault, &key::make(&vault, algorithm, 1, at(NOW - 10))).unwrap()
    };
    let want: AccessTokenClaims = serde_json::from_value(claims()).unwrap();
    for (algorithm, other) in
        [(KeyAlgorithm::Rs256, KeyAlgorithm::Es256), (KeyAlgorithm::Es256, KeyAlgorithm::Rs256)]
    {
        let keys = [open(algorithm)];
        let token = sign(&want, &keys, KeyAlgorithm::Es256, at(NOW)).unwrap().with(str::to_owned);
        assert_eq!(decode_header(&token).unwrap().alg, algorithm.token_algorithm());
        assert_eq!(verify(&token, &keys, ISSUER, at(NOW)).as_ref(), Ok(&want));
        let mut others = open(other);
        others.kid.clone_from(&keys[0].kid);
        assert_eq!(verify(&token, &[others], ISSUER, at(NOW)), Err(BadToken::OtherKind));
    }
}

#[test]
fn a_token_is_good_between_its_times() {
    let key = new_key();
    let token = signed(&key, &header(&key).to_string(), &claims().to_string());
    let keys = [key];
    let cases = [(NOW - 31, false), (NOW - 30, true), (NOW + 3629, true), (NOW + 3630, false)];

    for (now, good) in cases {
        assert_eq!(verify(&token, &keys, ISSUER, at(now)).is_ok(), good, "{}", now - NOW);
    }
}

#[test]
fn hostile_headers_are_refused() {
    let cases = [
        ("no algorithm", json!({ "alg": "none" }), BadToken::OtherKind),
        ("an algorithm in odd letters", json!({ "alg": "nOnE" }), BadToken::OtherKind),
        ("another algorithm", json!({ "alg": "HS256" }), BadToken::OtherKind),
        ("a stronger algorithm", json!({ "alg": "ES384" }), BadToken::OtherKind),
        ("RSA", json!({ "alg": "RS256" }), BadToken::OtherKind),
        ("a number for an algorithm", json!({ "alg": 7 }), BadToken::OtherKind),
        ("no algorithm at all", json!({ "alg": null }), BadToken::OtherKind),
        ("no type", json!({ "typ": null }), BadToken::OtherKind),
        ("a type of other tokens", json!({ "typ": "JWT" }), BadToken::OtherKind),
        ("something critical", json!({ "crit": ["exp"] }), BadToken::OtherKind),
        ("no key", json!({ "kid": null }), BadToken::UnknownKey),
        ("a key nobody has", json!({ "kid": "another" }), BadToken::UnknownKey),
        ("a path for a key", json!({ "kid": "../../dev/null" }), BadToken::UnknownKey),
        (
            "a key from elsewhere",
            json!({ "kid": "x", "jku": "https://evil" }),
            BadToken::UnknownKey,
        ),
    ];
    for (name, changes, want) in cases {
        let key = new_key();
        let header = with(header(&key), &changes).to_string();
        let token = signed(&key, &header, &claims().to_string());
        assert_eq!(judged(&token, key), Err(want), "{name}");
    }
}

#[test]
fn hostile_claims_are_refused() {
    let cases = [
        ("another issuer", json!({ "iss": "https://evil" }), BadToken::NotForUs),
        ("the issuer with a slash", json!({ "iss": format!("{ISSUER}/") }), BadToken::NotForUs),
        ("another audience", json!({ "aud": "agent:7" }), BadToken::NotForUs),
        ("several audiences", json!({ "aud": [AUDIENCE, "x"] }), BadToken::NotSigned),
        ("no issuer", json!({ "iss": null }), BadToken::NotSigned),
        ("no audience", json!({ "aud": null }), BadToken::NotSigned),
        ("no subject", json!({ "sub": null }), BadToken::NotSigned),
        ("no tenant", json!({ "tenant": null }), BadToken::NotSigned),
        ("no end", json!({ "exp": null }), BadToken::NotSigned),
        ("no beginning", json!({ "nbf": null }), BadToken::NotSigned),
        ("no name", json!({ "jti": null }), BadToken::NotSigned),
        ("a purpose of its own", json!({ "purpose": "cron_fire" }), BadToken::NotSigned),
        ("an end in words", json!({ "exp": "never" }), BadToken::NotSigned),
        ("a beginning in words", json!({ "nbf": NOW.to_string() }), BadToken::NotSigned),
        ("an end between seconds", json!({ "exp": 1e300 }), BadToken::NotSigned),
        ("an end no clock shows", json!({ "exp": i64::MAX }), BadToken::NotNow),
        ("an end before all clocks", json!({ "iat": i64::MIN, "exp": 0 }), BadToken::NotNow),
        ("expired", json!({ "iat": NOW - 3690, "exp": NOW - 90 }), BadToken::NotNow),
        ("not yet", json!({ "nbf": NOW + 90 }), BadToken::NotNow),
        ("made tomorrow", json!({ "iat": NOW + 90 }), BadToken::NotNow),
        ("lasting too long", json!({ "exp": NOW + 3601 }), BadToken::NotNow),
        ("ending before it began", json!({ "iat": NOW, "exp": NOW - 1 }), BadToken::NotNow),
    ];
    for (name, changes, want) in cases {
        let key = new_key();
        let claims = with(claims(), &changes).to_string();
        let token = signed(&key, &header(&key).to_string(), &claims);
        assert_eq!(judged(&token, key), Err(want), "{name}");
    }
}

#[test]
fn hostile_texts_are_refused() {
    let key = new_key();
    let (head, body) = (header(&key).to_string(), claims().to_string());
    let good = signed(&key, &head, &body);
    let (message, signature) = good.rsplit_once('.').unwrap();
    let twice = body.replacen('{', r#"{"sub":"other","#, 1);
    let head_twice = head.replacen('{', r#"{"alg":"none","#, 1);
    let other = new_key();
    let others = signed(&other, &head, &body);
    let stretched = with(claims(), &json!({ "sub": "x".repeat(ACCESS_TOKEN_BYTES_MAX) }));
    let cases = [
        ("nothing", String::new()),
        ("dots", "..".to_owned()),
        ("one part", message.split('.').next().unwrap().to_owned()),
        ("no signature", format!("{message}.")),
        ("cut short", good[..good.len() - 1].to_owned()),
        ("cut shorter", good[..good.len() - 20].to_owned()),
        ("junk behind", format!("{good}A")),
        ("a part more", format!("{good}.e30")),
        ("padding", format!("{good}==")),
        ("a blank before", format!(" {good}")),
        ("a newline behind", format!("{good}\n")),
        ("a flipped signature", format!("{message}.{}", flipped(signature))),
        ("another key's signature", others),
        ("a claim twice", signed(&key, &head, &twice)),
        ("a header twice", signed(&key, &head_twice, &body)),
        ("not JSON", signed(&key, &head, "not json")),
        ("not an object", signed(&key, &head, "[]")),
        ("our public key as a secret", by_hmac(&key, &body)),
        ("too long", signed(&key, &head, &stretched.to_string())),
        ("an upgrade token", "Z3ctMToxODAwMDAwMzAwOmFiYw".to_owned()),
    ];
    let keys = [key];
    for (name, token) in cases {
        assert!(verify(&token, &keys, ISSUER, at(NOW)).is_err(), "{name}");
    }
    assert!(verify(&good, &keys, ISSUER, at(NOW)).is_ok());
}

/// Signs with HS256 and the public key as the secret.
fn by_hmac(key: &SigningKey, claims: &str) -> String {
    forged::by_hmac(header(key), &serde_json::to_string(key.public()).unwrap(), claims)
}
