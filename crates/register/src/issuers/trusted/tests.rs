//! Valid and hostile tokens of another issuer.

use std::error::Error;

use async_trait::async_trait;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use nightdesk_types::limits::ISSUED_NAME_BYTES_MAX;
use serde_json::{Value, json};

use super::super::test_pair::{ISSUER, NOW, Pair, TENANT_CLAIM, claims, set};
use super::*;
use crate::forged::{self, flipped, with};

const AGENT: &str = "agent:00000000-0000-4000-8000-000000000001";

struct Always(Vec<u8>);

#[async_trait]
impl FetchKeys for Always {
    async fn fetch(&self, _: &KeySource) -> Result<Vec<u8>, Box<dyn Error + Send + Sync>> {
        Ok(self.0.clone())
    }
}

fn trusting(keys: &[Value]) -> IssuerVerifier {
    trusting_text(set(keys))
}

/// Trusts an issuer that publishes this text.
pub(super) fn trusting_text(published: Vec<u8>) -> IssuerVerifier {
    let said = TrustedIssuer {
        url: ISSUER.to_owned(),
        keys: KeySource::Url(format!("{ISSUER}/jwks")),
        audience: "nightdesk".to_owned(),
        tenant_claim: TENANT_CLAIM.to_owned(),
        agent_by: AgentBy::Either,
    };
    IssuerVerifier::new(said, Arc::new(Always(published)), TaskTracker::new())
}

async fn judged(issuer: &IssuerVerifier, token: &str, now: i64) -> Option<AcceptedClaims> {
    let now = Timestamp::from_second(now).unwrap();
    issuer.verify_token(token, now).await.expect("its keys are there")
}

#[tokio::test]
async fn an_honest_token_is_believed_for_what_it_is_for() {
    let pairs = [Pair::es256("e1"), Pair::rs256("r1")];
    let issuer = trusting(&pairs.each_ref().map(Pair::jwk));
    for pair in &pairs {
        let good = judged(&issuer, &pair.token(&claims()), NOW).await.expect("it is good");
        assert!(good.is_for("nightdesk") && !good.is_for("another"));
        assert_eq!((good.tenant.as_str(), good.only_agent()), ("acme", None));
        assert_eq!(good.session.as_deref(), Some("session-1"));
        let for_agent = pair.token(&with(claims(), &json!({ "aud": AGENT })));
        let good = judged(&issuer, &for_agent, NOW).await.expect("it is good");
        assert_eq!(good.only_agent().map(|agent| format!("agent:{agent}")).as_deref(), Some(AGENT));
        let both = pair.token(&with(claims(), &json!({ "aud": [AGENT, "nightdesk"] })));
        let good = judged(&issuer, &both, NOW).await.expect("it is good");
        assert!(good.is_for("nightdesk") && good.only_agent().is_none(), "an agent's is its alone");
    }
    let times = [(NOW - 31, false), (NOW - 30, true), (NOW + 3629, true), (NOW + 3630, false)];
    for (now, want) in times {
        let token = pairs[0].token(&claims());
        assert_eq!(judged(&issuer, &token, now).await.is_some(), want, "{}", now - NOW);
    }
}

// T52, T29: more than sixty forged tokens, and none is accepted.
#[tokio::test]
async fn hostile_tokens_are_not_believed() {
    let (ec, rsa) = (Pair::es256("e1"), Pair::rs256("r1"));
    let issuer = trusting(&[ec.jwk(), rsa.jwk()]);
    let mut hostile = Vec::new();
    hostile.extend(headers().map(|(name, changes)| {
        let header = with(ec.header(), &changes).to_string();
        (name, ec.signed(&header, &claims().to_string()))
    }));
    hostile.extend(sayings().map(|(name, changes)| (name, rsa.token(&with(claims(), &changes)))));
    hostile.extend(texts(&ec, &rsa));

    assert!(hostile.len() >= 60, "{}", hostile.len());
    for (name, token) in &hostile {
        assert_eq!(judged(&issuer, token, NOW).await, None, "{name}");
    }
    assert!(judged(&issuer, &ec.token(&claims()), NOW).await.is_some(), "but an honest one is");
}

fn headers() -> impl Iterator<Item = (&'static str, Value)> {
    let own_key = Pair::es256("e1").jwk();
    [
        ("no algorithm", json!({ "alg": "none" })),
        ("no algorithm in odd letters", json!({ "alg": "NoNe" })),
        ("an empty algorithm", json!({ "alg": "" })),
        ("a secret's algorithm", json!({ "alg": "HS256" })),
        ("a longer secret's algorithm", json!({ "alg": "HS512" })),
        ("the other key's algorithm", json!({ "alg": "RS256" })),
        ("a padded algorithm", json!({ "alg": "PS256" })),
        ("a stronger algorithm", json!({ "alg": "ES384" })),
        ("an algorithm of Edwards", json!({ "alg": "EdDSA" })),
        ("a number for an algorithm", json!({ "alg": 7 })),
        ("algorithms to choose from", json!({ "alg": ["ES256", "none"] })),
        ("no algorithm at all", json!({ "alg": null })),
        ("no key", json!({ "kid": null })),
        ("an empty key", json!({ "kid": "" })),
        ("a number for a key", json!({ "kid": 1 })),
        ("a key nobody has", json!({ "kid": "e2" })),
        ("the key in other letters", json!({ "kid": "E1" })),
        ("a blank behind the key", json!({ "kid": "e1 " })),
        ("the RSA key's name", json!({ "kid": "r1" })),
        ("a path for a key", json!({ "kid": "../../dev/null" })),
        ("a query for a key", json!({ "kid": "e1' or '1'='1" })),
        ("a long key", json!({ "kid": "k".repeat(ISSUED_NAME_BYTES_MAX + 1) })),
        ("a key from elsewhere", json!({ "kid": "x", "jku": "https://evil.example/jwks" })),
        ("a certificate from elsewhere", json!({ "kid": "x", "x5u": "https://evil.example/x" })),
        ("its own key", json!({ "kid": "x", "jwk": own_key })),
        ("something critical", json!({ "crit": ["exp"] })),
        ("a body of another form", json!({ "b64": false, "crit": ["b64"] })),
        ("a type of other tokens", json!({ "typ": "logout+jwt" })),
        ("a type of events", json!({ "typ": "secevent+jwt" })),
    ]
    .into_iter()
}

fn sayings() -> impl Iterator<Item = (&'static str, Value)> {
    [
        ("another issuer", json!({ "iss": "https://evil.example" })),
        ("the issuer with a slash", json!({ "iss": format!("{ISSUER}/") })),
        ("the issuer in other letters", json!({ "iss": ISSUER.to_uppercase() })),
        ("issuers to choose from", json!({ "iss": [ISSUER] })),
        ("no issuer", json!({ "iss": null })),
        ("no audience", json!({ "aud": null })),
        ("nobody for an audience", json!({ "aud": [] })),
        ("a number for an audience", json!({ "aud": 7 })),
        ("a number among audiences", json!({ "aud": ["nightdesk", 7] })),
        ("no subject", json!({ "sub": null })),
        ("an empty subject", json!({ "sub": "" })),
        ("a number for a subject", json!({ "sub": 7 })),
        ("no tenant", json!({ TENANT_CLAIM: null })),
        ("an empty tenant", json!({ TENANT_CLAIM: "" })),
        ("tenants to choose from", json!({ TENANT_CLAIM: ["acme", "bob"] })),
        ("a long tenant", json!({ TENANT_CLAIM: "t".repeat(ISSUED_NAME_BYTES_MAX + 1) })),
        ("a number for a client", json!({ "client_id": 7 })),
        ("two clients", json!({ "client_id": AGENT, "azp": "another" })),
        ("a number for a session", json!({ "sid": 7 })),
        ("no end", json!({ "exp": null })),
        ("an end in words", json!({ "exp": "never" })),
        ("an end in quotes", json!({ "exp": (NOW + 3600).to_string() })),
        ("an end between seconds", json!({ "exp": 1_800_000_000.5 })),
        ("an end no clock shows", json!({ "exp": u64::MAX })),
        ("the last end of all", json!({ "exp": i64::MAX })),
        ("no making", json!({ "iat": null })),
        ("a making in quotes", json!({ "iat": NOW.to_string() })),
        ("made before all clocks", json!({ "iat": i64::MIN })),
        ("made tomorrow", json!({ "iat": NOW + 90, "exp": NOW + 3600 })),
        ("a beginning in quotes", json!({ "nbf": NOW.to_string() })),
        ("a beginning that is true", json!({ "nbf": true })),
        ("not yet", json!({ "nbf": NOW + 90 })),
        ("expired", json!({ "iat": NOW - 3690, "exp": NOW - 90 })),
        ("ending before it began", json!({ "exp": NOW - 1 })),
        ("lasting too long", json!({ "exp": NOW + 24 * 3600 + 1 })),
        ("a fire", json!({ "purpose": "cron_fire" })),
        ("a fire for an agent", json!({ "purpose": "cron_fire", "aud": AGENT })),
        ("a purpose of nothing", json!({ "purpose": "" })),
        ("a purpose that is no text", json!({ "purpose": 0 })),
    ]
    .into_iter()
}

fn texts(ec: &Pair, rsa: &Pair) -> Vec<(&'static str, String)> {
    let (head, body) = (ec.header().to_string(), claims().to_string());
    let good = ec.signed(&head, &body);
    let (message, signature) = good.rsplit_once('.').unwrap();
    let twice = |with: &str| body.replacen('{', &format!("{{{with},"), 1);
    let head_twice = head.replacen('{', r#"{"alg":"none","#, 1);
    let purpose_null = twice(r#""purpose":null"#);
    vec![
        ("nothing", String::new()),
        ("dots", "..".to_owned()),
        ("no signature", format!("{message}.")),
        ("cut short", good[..good.len() - 2].to_owned()),
        ("junk behind", format!("{good}A")),
        ("a part more", format!("{good}.e30")),
        ("padding", format!("{good}==")),
        ("a blank before", format!(" {good}")),
        ("a newline behind", format!("{good}\n")),
        ("a flipped signature", format!("{message}.{}", flipped(signature))),
        ("a signature of noughts", format!("{message}.{}", URL_SAFE_NO_PAD.encode([0; 64]))),
        ("another's signature", Pair::es256("e1").signed(&head, &body)),
        ("the RSA key's signature", rsa.signed(&head, &body)),
        ("a tenant twice", ec.signed(&head, &twice(r#""tid":"bob""#))),
        ("an end twice", ec.signed(&head, &twice(r#""exp":1"#))),
        ("a header twice", ec.signed(&head_twice, &body)),
        ("a purpose of null", ec.signed(&head, &purpose_null)),
        ("not JSON", ec.signed(&head, "not json")),
        ("not an object", ec.signed(&head, "[]")),
        ("the public key as a secret", by_hmac(ec, &body)),
        ("the public RSA key as a secret", by_hmac(rsa, &body)),
    ]
}

/// Signs with HS256 and the public key as the secret.
fn by_hmac(pair: &Pair, claims: &str) -> String {
    forged::by_hmac(pair.header(), &pair.jwk().to_string(), claims)
}
