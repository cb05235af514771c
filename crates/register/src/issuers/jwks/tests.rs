//! Keys that appear, disappear, and cannot be read.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::{advance, sleep};

use super::super::test_pair::{Pair, set};
use super::*;
use crate::forged::with;

const MOMENT: Duration = Duration::from_millis(1);

const fn just_before(span: Duration) -> Duration {
    span.saturating_sub(MOMENT)
}

/// An issuer's server.
struct Server {
    answer: Mutex<Option<Vec<u8>>>,
    slow: Duration,
    asked: AtomicUsize,
}

impl Server {
    fn with(keys: &[Value]) -> Arc<Self> {
        Self::slow(keys, Duration::ZERO)
    }

    fn slow(keys: &[Value], slow: Duration) -> Arc<Self> {
        let answer = Mutex::new(Some(set(keys)));
        Arc::new(Self { answer, slow, asked: AtomicUsize::new(0) })
    }

    fn answers(&self, keys: Option<&[Value]>) {
        *self.answer.lock().unwrap() = keys.map(set);
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::Relaxed)
    }
}

#[async_trait]
impl FetchKeys for Server {
    async fn fetch(&self, _: &KeySource) -> Result<Vec<u8>, Box<dyn Error + Send + Sync>> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        sleep(self.slow).await;
        self.answer.lock().unwrap().clone().ok_or_else(|| "it is down".into())
    }
}

fn keys_of(server: &Arc<Server>) -> Jwks {
    let fetch: Arc<dyn FetchKeys> = Arc::<Server>::clone(server);
    Jwks::new(
        KeySource::Url("https://login.example.org/jwks".to_owned()),
        fetch,
        TaskTracker::new(),
    )
}

async fn found(keys: &Jwks, kid: &str) -> Result<bool, Unavailable> {
    keys.find_key(kid).await.map(|key| key.is_some())
}

// T54: while the JWKS endpoint is down, tokens of known kids still verify.
#[tokio::test(start_paused = true)]
async fn known_keys_are_used_for_a_day_while_the_issuer_is_down() {
    let server = Server::with(&[Pair::es256("e1").jwk()]);
    let keys = keys_of(&server);
    assert_eq!(found(&keys, "e1").await, Ok(true));
    server.answers(None);

    advance(ISSUER_KEYS_FRESH_FOR).await;
    assert_eq!(found(&keys, "e1").await, Ok(true), "stale, and good enough");
    assert_eq!(found(&keys, "e2").await, Err(Unavailable), "it may have come since");
    advance(just_before(ISSUER_KEYS_STALE_FOR.saturating_sub(ISSUER_KEYS_FRESH_FOR))).await;
    assert_eq!(found(&keys, "e1").await, Ok(true), "at the limit");
    advance(MOMENT).await;
    assert_eq!(found(&keys, "e1").await, Err(Unavailable), "past it");
    advance(ISSUER_KEYS_READ_EVERY).await;
    server.answers(Some(&[Pair::es256("e1").jwk()]));
    assert_eq!(found(&keys, "e1").await, Ok(true), "and back");
}

#[tokio::test(start_paused = true)]
async fn an_issuer_is_asked_at_most_once_a_minute() {
    let server = Server::with(&[Pair::es256("e1").jwk()]);
    let keys = keys_of(&server);
    for _ in 0..1_000 {
        assert_eq!(found(&keys, "guess").await, Ok(false));
    }
    assert_eq!(server.asked(), 1);

    server.answers(Some(&[Pair::es256("e2").jwk()]));
    advance(just_before(ISSUER_KEYS_READ_EVERY)).await;
    assert_eq!((found(&keys, "e2").await, server.asked()), (Ok(false), 1), "just before");
    advance(MOMENT).await;
    assert_eq!((found(&keys, "e2").await, server.asked()), (Ok(true), 2), "a key that is new");
    assert_eq!(found(&keys, "e1").await, Ok(false), "a key that is gone");
    advance(just_before(ISSUER_KEYS_FRESH_FOR)).await;
    assert_eq!((found(&keys, "e2").await, server.asked()), (Ok(true), 2), "still fresh");
    advance(MOMENT).await;
    assert_eq!((found(&keys, "e2").await, server.asked()), (Ok(true), 3));
}

#[tokio::test(start_paused = true)]
async fn an_issuer_that_never_answered_is_not_taken_for_one_without_keys() {
    let server = Server::with(&[]);
    server.answers(None);
    let keys = keys_of(&server);

    assert_eq!(found(&keys, "e1").await, Err(Unavailable));
    assert_eq!((found(&keys, "e1").await, server.asked()), (Err(Unavailable), 1));
}

#[tokio::test(start_paused = true)]
async fn who_hangs_up_keeps_nobody_from_getting_keys() {
    let server = Server::slow(&[Pair::es256("e1").jwk()], Duration::from_secs(4));
    let keys = keys_of(&server);
    let hung_up = tokio::time::timeout(Duration::from_secs(1), keys.find_key("guess")).await;
    assert!(hung_up.is_err(), "it did not wait");

    let (one, other) = tokio::join!(found(&keys, "e1"), found(&keys, "e1"));
    assert_eq!((one, other, server.asked()), (Ok(true), Ok(true), 1), "read once for all");
}

#[tokio::test(start_paused = true)]
async fn who_has_a_key_does_not_wait_for_a_slow_issuer() {
    let server = Server::slow(&[Pair::es256("e1").jwk()], Duration::from_secs(4));
    let keys = keys_of(&server);
    assert_eq!(found(&keys, "e1").await, Ok(true));
    advance(ISSUER_KEYS_FRESH_FOR).await;
    let first = tokio::spawn({
        let keys = keys.clone();
        async move { found(&keys, "e1").await }
    });
    tokio::task::yield_now().await;
    sleep(Duration::from_secs(1)).await;

    let began = Instant::now();
    assert_eq!(found(&keys, "e1").await, Ok(true));
    assert_eq!(began.elapsed(), Duration::ZERO);
    assert_eq!(first.await.expect("no panic"), Ok(true));
}

#[test]
fn only_keys_for_us_are_read_from_a_set() {
    let (ec, rsa) = (Pair::es256("e1").jwk(), Pair::rs256("r1").jwk());
    let secret = json!({ "kty": "oct", "kid": "o1", "k": "c2VjcmV0" });
    let short = json!({ "kty": "RSA", "kid": "s1", "e": "AQAB", "n": "wQ".repeat(64) });
    let changed = |key: &Value, changes: Value| with(key.clone(), &changes);
    let cases = [
        ("an EC key", vec![ec.clone()], 1),
        ("an RSA key", vec![rsa.clone()], 1),
        ("both", vec![ec.clone(), rsa.clone()], 2),
        ("without an algorithm", vec![changed(&rsa, json!({ "alg": null }))], 1),
        ("without a use", vec![changed(&ec, json!({ "use": null }))], 1),
        ("without a name", vec![changed(&ec, json!({ "kid": null }))], 0),
        ("an empty name", vec![changed(&ec, json!({ "kid": "" }))], 0),
        ("one name twice", vec![ec.clone(), changed(&rsa, json!({ "kid": "e1" }))], 0),
        ("to encrypt with", vec![changed(&rsa, json!({ "use": "enc" }))], 0),
        ("of a padded algorithm", vec![changed(&rsa, json!({ "alg": "PS256" }))], 0),
        ("of a longer algorithm", vec![changed(&rsa, json!({ "alg": "RS512" }))], 0),
        ("an RSA key for a secret", vec![changed(&rsa, json!({ "alg": "HS256" }))], 0),
        ("an EC key for RSA", vec![changed(&ec, json!({ "alg": "RS256" }))], 0),
        ("a longer curve", vec![changed(&ec, json!({ "crv": "P-384" }))], 0),
        ("a secret", vec![secret], 0),
        ("a short key", vec![short], 0),
        ("junk among keys", vec![json!(7), json!({}), ec], 1),
        ("none", vec![], 0),
    ];
    for (name, keys, want) in cases {
        assert_eq!(read(&set(&keys)).expect("a set").len(), want, "{name}");
    }
    for body in ["", "[]", "{}", r#"{"keys":{}}"#, r#"{"keys":null}"#] {
        assert!(read(body.as_bytes()).is_err(), "{body}");
    }
    let many = vec![rsa; nightdesk_types::limits::ISSUER_KEYS_MAX + 1];
    assert!(read(&set(&many)).is_err(), "too many");
}
