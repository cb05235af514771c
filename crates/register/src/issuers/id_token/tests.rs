use std::error::Error;

use async_trait::async_trait;
use serde_json::json;

use super::super::test_pair::{ISSUER, NOW, Pair, set};
use super::*;
use crate::forged::with;

const CLIENT: &str = "nightdesk-web";
const NONCE: &str = "n-0S6_WzA2Mj";

struct Always(Vec<u8>);

#[async_trait]
impl FetchKeys for Always {
    async fn fetch(&self, _: &KeySource) -> Result<Vec<u8>, Box<dyn Error + Send + Sync>> {
        Ok(self.0.clone())
    }
}

fn verifier(keys: &[Value]) -> IdTokenVerifier {
    let source = KeySource::Url(format!("{ISSUER}/jwks"));
    let fetch = Arc::new(Always(set(keys)));
    IdTokenVerifier::new(ISSUER.to_owned(), CLIENT.to_owned(), source, fetch, TaskTracker::new())
}

fn claims() -> Value {
    json!({
        "iss": ISSUER, "aud": CLIENT, "sub": "u1", "iat": NOW, "exp": NOW + 600, "nonce": NONCE,
        "name": "Ann", "email": "ann@example.org", "email_verified": true,
        "groups": ["desk", "acme-admins", 7],
    })
}

async fn verified(verifier: &IdTokenVerifier, token: &str) -> Option<IdTokenClaims> {
    let now = Timestamp::from_second(NOW).unwrap();
    verifier.verify(token, NONCE, now).await.expect("its keys are there")
}

#[tokio::test]
async fn a_token_for_this_login_is_accepted_with_its_claims() {
    for pair in [Pair::es256("e1"), Pair::rs256("r1")] {
        let verifier = verifier(&[pair.jwk()]);
        let accepted = verified(&verifier, &pair.token(&claims())).await.expect("it is right");

        assert_eq!(accepted.subject, "u1");
        assert_eq!(accepted.text("name"), Some("Ann"));
        assert_eq!(accepted.texts("groups"), ["desk", "acme-admins"]);
        assert_eq!(accepted.texts("name"), ["Ann"]);
        assert_eq!(accepted.texts("nothing"), [""; 0]);
        assert_eq!(accepted.verified_email(), Some("ann@example.org"));
    }
}

#[tokio::test]
async fn an_address_counts_only_if_the_provider_verified_it() {
    let pair = Pair::es256("e1");
    let verifier = verifier(&[pair.jwk()]);
    for unverified in [json!(false), json!("true"), json!(1), Value::Null] {
        let claims = with(claims(), &json!({ "email_verified": unverified }));
        let accepted = verified(&verifier, &pair.token(&claims)).await.expect("it is right");
        assert_eq!(accepted.verified_email(), None);
    }
}

#[tokio::test]
async fn several_audiences_need_the_party_that_the_token_was_issued_to() {
    let pair = Pair::es256("e1");
    let verifier = verifier(&[pair.jwk()]);
    let both = json!([CLIENT, "another"]);
    let cases = [
        (json!({ "aud": [CLIENT] }), true),
        (json!({ "azp": CLIENT }), true),
        (json!({ "aud": both, "azp": CLIENT }), true),
        (json!({ "aud": both }), false),
        (json!({ "aud": both, "azp": "another" }), false),
        (json!({ "azp": "another" }), false),
        (json!({ "azp": 7 }), false),
    ];
    for (changes, want) in cases {
        let token = pair.token(&with(claims(), &changes));
        assert_eq!(verified(&verifier, &token).await.is_some(), want, "{changes}");
    }
}

// T29: tokens of other logins, clients and issuers, and tokens of other kinds.
#[tokio::test]
async fn hostile_tokens_are_refused() {
    let (pair, other) = (Pair::es256("e1"), Pair::es256("e1"));
    let verifier = verifier(&[pair.jwk()]);
    let changes = [
        ("another issuer", json!({ "iss": "https://evil.example" })),
        ("another client", json!({ "aud": "another" })),
        ("no audience", json!({ "aud": null })),
        ("another login", json!({ "nonce": "n-other" })),
        ("no nonce", json!({ "nonce": null })),
        ("an empty nonce", json!({ "nonce": "" })),
        ("a nonce that is no text", json!({ "nonce": [NONCE] })),
        ("no subject", json!({ "sub": null })),
        ("an empty subject", json!({ "sub": "" })),
        ("a subject that is no text", json!({ "sub": 1 })),
        ("an end in the past", json!({ "exp": NOW - 60, "iat": NOW - 600 })),
        ("no end", json!({ "exp": null })),
        ("made tomorrow", json!({ "iat": NOW + 86_400, "exp": NOW + 87_000 })),
        ("not yet", json!({ "nbf": NOW + 600 })),
        ("lasting too long", json!({ "exp": NOW + 24 * 3600 + 1 })),
        ("a fire's token", json!({ "purpose": "cron_fire" })),
    ];
    for (name, changes) in changes {
        let token = pair.token(&with(claims(), &changes));
        assert_eq!(verified(&verifier, &token).await, None, "{name}");
    }
    let header = |changes: &Value| with(pair.header(), changes).to_string();
    let headers = [
        ("no algorithm", json!({ "alg": "none" })),
        ("a secret's algorithm", json!({ "alg": "HS256" })),
        ("no key", json!({ "kid": null })),
        ("a key that nobody has", json!({ "kid": "e2" })),
        ("an access token", json!({ "typ": "at+jwt" })),
        ("a logout token", json!({ "typ": "logout+jwt" })),
        ("something critical", json!({ "crit": ["exp"] })),
    ];
    for (name, changes) in headers {
        let token = pair.signed(&header(&changes), &claims().to_string());
        assert_eq!(verified(&verifier, &token).await, None, "{name}");
    }
    let good = pair.token(&claims());
    let doubled = claims().to_string().replacen('{', r#"{"nonce":"n-other","#, 1);
    let texts = [
        ("another key of that name", other.token(&claims())),
        ("a claim twice", pair.signed(&header(&json!({})), &doubled)),
        ("no signature", good.rsplit_once('.').map(|(message, _)| format!("{message}.")).unwrap()),
        ("nothing", String::new()),
        ("a long text", "a".repeat(ISSUED_TOKEN_BYTES_MAX + 1)),
    ];
    for (name, token) in texts {
        assert_eq!(verified(&verifier, &token).await, None, "{name}");
    }
    assert!(verified(&verifier, &good).await.is_some(), "but an honest one is");
}
