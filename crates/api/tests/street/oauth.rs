//! The built-in issuer, from outside.

use std::time::Duration;

use nightdesk_register::enrolment::Invitation;
use nightdesk_testdesk::{Answered, Household, ISSUER, TestDesk, get, post};
use nightdesk_types::limits::{GATEWAY_BODY_BYTES_MAX, UPGRADE_FAILURES_MAX};

const FORM: (&str, &str) = ("content-type", "application/x-www-form-urlencoded");

/// Creates a client for a household's agent.
pub(crate) async fn invited(desk: &TestDesk, household: &Household) -> Invitation {
    let good_for = Duration::from_mins(10);
    desk.register
        .invite(household.scope, household.agent, None, good_for)
        .await
        .expect("invite a gateway")
}

/// Asks for an access token as the stock client does.
pub(crate) async fn ask(desk: &TestDesk, id: &str, secret: &str) -> Answered {
    let form = format!("grant_type=client_credentials&client_id={id}&client_secret={secret}");
    post(desk.address(), "/oauth/token", &[FORM], form.as_bytes()).await
}

/// An access token of an invited client.
pub(crate) async fn access_token(desk: &TestDesk, invited: &Invitation) -> String {
    let secret = invited.client_secret.with(str::to_owned);
    let answer = ask(desk, &invited.client.to_string(), &secret).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    answer.json()["access_token"].as_str().expect("a token").to_owned()
}

#[tokio::test]
async fn a_client_gets_a_token_in_the_words_of_the_rfc() {
    let desk = TestDesk::open().await;
    let ann = desk.household("ann", "gw-1").await;
    let invited = invited(&desk, &ann).await;
    let secret = invited.client_secret.with(str::to_owned);

    let answer = ask(&desk, &invited.client.to_string(), &secret).await;
    assert_eq!(answer.status, 200);
    assert!(answer.text.contains("cache-control: no-store"), "{}", answer.text);
    let body = answer.json();
    assert_eq!((&body["token_type"], &body["expires_in"]), (&"Bearer".into(), &3600.into()));
    let basic = base64(&format!("{}:{secret}", invited.client));
    let headers = [FORM, ("authorization", basic.as_str())];
    let by_basic = b"grant_type=client_credentials";
    assert_eq!(post(desk.address(), "/oauth/token", &headers, by_basic).await.status, 200);
}

fn base64(text: &str) -> String {
    use base64::Engine;
    format!("Basic {}", base64::engine::general_purpose::STANDARD.encode(text))
}

#[tokio::test]
async fn nobody_learns_which_half_was_wrong() {
    let desk = TestDesk::open().await;
    let ann = desk.household("ann", "gw-1").await;
    let (live, revoked) = (invited(&desk, &ann).await, invited(&desk, &ann).await);
    let store = desk.register.store();
    assert!(store.revoke_client(ann.scope, revoked.client).await.expect("revoke a client"));
    let secret = revoked.client_secret.with(str::to_owned);
    let nobody = "00000000-0000-4000-8000-000000000000";

    let wrong = ask(&desk, &live.client.to_string(), "wrong").await;
    assert_eq!((wrong.status, wrong.json()["error"].as_str()), (401, Some("invalid_client")));
    let cases = [
        ("unknown", ask(&desk, nobody, "wrong").await),
        ("not an id", ask(&desk, "ann", "wrong").await),
        ("revoked", ask(&desk, &revoked.client.to_string(), &secret).await),
        ("no secret", ask(&desk, &live.client.to_string(), "").await),
    ];
    let told = |answer: &Answered| {
        let head: Vec<_> = answer.text.lines().filter(|line| !line.starts_with("date")).collect();
        head.join("\n")
    };
    for (name, answer) in cases {
        assert_eq!(told(&answer), told(&wrong), "{name}");
    }
}

#[tokio::test]
async fn what_is_not_a_good_request_is_told_so() {
    let desk = TestDesk::open().await;
    let cases = [
        ("", 400, "invalid_request"),
        ("grant_type=password&client_id=c&client_secret=s", 400, "unsupported_grant_type"),
        ("grant_type=refresh_token&client_id=c&refresh_token=r", 400, "invalid_grant"),
        ("grant_type=client_credentials&client_id=c", 401, "invalid_client"),
    ];
    for (form, status, error) in cases {
        let answer = post(desk.address(), "/oauth/token", &[FORM], form.as_bytes()).await;
        assert_eq!((answer.status, answer.json()["error"].as_str()), (status, Some(error)));
    }
    let long = vec![b'x'; GATEWAY_BODY_BYTES_MAX + 1];
    assert_eq!(post(desk.address(), "/oauth/token", &[FORM], &long).await.status, 413);
}

#[tokio::test]
async fn failures_of_an_address_never_refuse_a_good_secret() {
    let desk = TestDesk::open().await;
    let ann = desk.household("ann", "gw-1").await;
    let invited = invited(&desk, &ann).await;
    for _ in 0..UPGRADE_FAILURES_MAX {
        assert_eq!(ask(&desk, "nobody", "x").await.status, 401);
    }

    assert_eq!(ask(&desk, "nobody", "x").await.status, 429);
    access_token(&desk, &invited).await;
}

#[tokio::test]
async fn the_issuer_says_where_its_keys_are() {
    let desk = TestDesk::open().await;
    for path in ["/.well-known/openid-configuration", "/.well-known/oauth-authorization-server"] {
        let found = get(desk.address(), path, &[]).await.json();
        assert_eq!(found["issuer"], ISSUER);
        assert_eq!(found["token_endpoint"], format!("{ISSUER}/oauth/token"));
        assert_eq!(found["jwks_uri"], format!("{ISSUER}/oauth/jwks.json"));
    }

    let keys = get(desk.address(), "/oauth/jwks.json", &[]).await.json();
    let key = &keys["keys"][0];
    assert_eq!((&key["kty"], &key["crv"]), (&"EC".into(), &"P-256".into()));
    assert_eq!((&key["alg"], &key["use"]), (&"ES256".into(), &"sig".into()));
    assert!(key["kid"].is_string() && key["d"].is_null(), "the public half alone: {key}");
    let again = get(desk.address(), "/oauth/jwks.json", &[]).await.json();
    assert_eq!(again, keys, "the key stays");
}

#[tokio::test]
async fn clients_behind_a_proxy_have_a_limit_each() {
    let desk = TestDesk::open().await;
    let form = b"grant_type=client_credentials&client_id=x&client_secret=x";
    let from = async |client| {
        let headers = [FORM, ("x-forwarded-for", client)];
        post(desk.address(), "/oauth/token", &headers, form).await
    };
    for _ in 0..UPGRADE_FAILURES_MAX {
        assert_eq!(from("192.0.2.7").await.status, 401);
    }

    assert_eq!(from("192.0.2.7").await.status, 429);
    assert_eq!(from("203.0.113.9, 192.0.2.7").await.status, 429, "the client chose the first");
    assert_eq!(from("192.0.2.8").await.status, 401);
}
