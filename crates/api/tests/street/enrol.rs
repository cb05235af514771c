//! Enrolment of a gateway, and its refusals.

use std::time::Duration;

use nightdesk_testdesk::{Answered, TestDesk, TestGateway, post, upgrade_token_at};
use nightdesk_types::limits::UPGRADE_FAILURES_MAX;
use nightdesk_vault::Key;
use serde_json::json;

use crate::oauth::{access_token, invited};

/// Posts JSON with a bearer token.
async fn call(desk: &TestDesk, path: &str, bearer: &str, body: &serde_json::Value) -> Answered {
    let bearer = format!("Bearer {bearer}");
    let headers = [("authorization", bearer.as_str()), ("content-type", "application/json")];
    post(desk.address(), path, &headers, body.to_string().as_bytes()).await
}

/// Enrols as the stock client does.
pub(crate) async fn enroll(desk: &TestDesk, bearer: &str, token: &Key, gateway: &str) -> Answered {
    let body = json!({ "enrollmentToken": token.with(str::to_owned), "gatewayId": gateway });
    call(desk, "/relay/enroll", bearer, &body).await
}

fn said(answer: &Answered) -> String {
    answer.json()["error"].as_str().unwrap_or_default().to_owned()
}

#[tokio::test]
async fn an_enrolled_gateway_dials_in_and_is_handed_what_waits() {
    let desk = TestDesk::open().await;
    let ann = desk.household("ann", "gw-1").await;
    let invited = invited(&desk, &ann).await;
    let bearer = access_token(&desk, &invited).await;
    desk.says(&ann, "ann", "k1").await;

    let answer = enroll(&desk, &bearer, &invited.token, "gw-new").await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    let body = answer.json();
    assert_eq!(body["gatewayId"], "gw-new");
    assert_eq!(body["tenant"], ann.scope.tenant().to_string());
    assert_eq!(body["deliveryKey"].as_str().map(str::len), Some(64));
    let secret = Key::new(body["secret"].as_str().expect("a secret").to_owned());
    let gateway = TestGateway::dial(desk.address(), "gw-new", &secret).await;
    let mut gateway = gateway.expect("the secret is good");
    gateway.hello("discord").await;
    gateway.hear_frame("descriptor").await;
    assert_eq!(gateway.hear_frame("inbound").await["event"]["text"], "k1");
}

#[tokio::test]
async fn a_token_of_one_tenant_is_nothing_to_another() {
    let desk = TestDesk::open().await;
    let ann = desk.household("ann", "gw-1").await;
    let bob = desk.household("bob", "gw-1").await;
    let (anns, bobs) = (invited(&desk, &ann).await, invited(&desk, &bob).await);
    let bearer = access_token(&desk, &bobs).await;

    let stolen = enroll(&desk, &bearer, &anns.token, "gw-new").await;
    assert_eq!(stolen.status, 403);
    let guessed = enroll(&desk, &bearer, &Key::new("guess".to_owned()), "gw-new").await;
    assert_eq!(said(&stolen), said(&guessed), "not yours and not there are the same");
    let named = desk.register.store().gateways_named("gw-new").await.expect("find a gateway");
    assert!(named.is_empty());
    let bearer = access_token(&desk, &anns).await;
    assert_eq!(enroll(&desk, &bearer, &anns.token, "gw-new").await.status, 200, "still good");
}

#[tokio::test]
async fn a_token_is_good_once() {
    let desk = TestDesk::open().await;
    let ann = desk.household("ann", "gw-1").await;
    let invited = invited(&desk, &ann).await;
    let bearer = access_token(&desk, &invited).await;
    let (one, other) = tokio::join!(
        enroll(&desk, &bearer, &invited.token, "gw-2"),
        enroll(&desk, &bearer, &invited.token, "gw-3"),
    );

    let mut statuses = [one.status, other.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 403]);
    let again = enroll(&desk, &bearer, &invited.token, "gw-2").await;
    assert_eq!(again.status, 403);
    assert!(said(&again).contains("used already; ask for a new one"), "{}", said(&again));
}

#[tokio::test]
async fn an_invitation_that_is_over_is_worth_nothing() {
    let desk = TestDesk::open().await;
    let ann = desk.household("ann", "gw-1").await;
    let old = invited(&desk, &ann).await;
    let bearer = access_token(&desk, &old).await;
    desk.store.clock().let_pass(Duration::from_mins(11));

    let late = enroll(&desk, &bearer, &old.token, "gw-2").await;
    assert_eq!(late.status, 401, "the identity is over");
    let bearer = access_token(&desk, &invited(&desk, &ann).await).await;
    let late = enroll(&desk, &bearer, &old.token, "gw-2").await;
    assert_eq!(late.status, 403);
    assert!(said(&late).contains("expired"), "{}", said(&late));
}

#[tokio::test]
async fn a_revoked_client_is_not_believed_with_the_token_it_has() {
    let desk = TestDesk::open().await;
    let ann = desk.household("ann", "gw-1").await;
    let invited = invited(&desk, &ann).await;
    let bearer = access_token(&desk, &invited).await;
    let revoked = desk.register.store().revoke_client(ann.scope, invited.client).await;
    assert!(revoked.expect("revoke a client"));

    assert_eq!(enroll(&desk, &bearer, &invited.token, "gw-2").await.status, 401);
}

#[tokio::test]
async fn a_gateway_enrolled_again_has_both_secrets_for_a_while() {
    let desk = TestDesk::open().await;
    let ann = desk.household("ann", "gw-1").await;
    let invited = invited(&desk, &ann).await;
    let bearer = access_token(&desk, &invited).await;

    let body = enroll(&desk, &bearer, &invited.token, "gw-1").await.json();
    let new = Key::new(body["secret"].as_str().expect("a secret").to_owned());
    assert!(TestGateway::dial(desk.address(), "gw-1", &new).await.is_ok());
    assert!(TestGateway::dial(desk.address(), "gw-1", &ann.secret).await.is_ok());
}

#[tokio::test]
async fn a_name_that_cannot_be_had_is_told_with_what_to_do() {
    let desk = TestDesk::open().await;
    let ann = desk.household("ann", "gw-1").await;
    let store = desk.register.store();
    let owl = store.create_agent(ann.scope, "owl").await.expect("enter an agent");
    let owls = desk.register.create_gateway(ann.scope, owl, "gw-owl").await;
    owls.expect("enter a gateway");
    let _revoked = store.revoke(ann.scope, "gw-1").await.expect("revoke a gateway");
    let good_for = Duration::from_mins(1);
    let invited = desk.register.invite(ann.scope, ann.agent, None, good_for).await;
    let invited = invited.expect("invite a gateway");
    let bearer = access_token(&desk, &invited).await;
    let long = "x".repeat(65);
    let cases = [
        ("gw-owl", 403, "another agent's gateway"),
        ("gw-1", 403, "was revoked"),
        ("a:b", 400, "1 to 64 letters"),
        ("", 400, "1 to 64 letters"),
        (long.as_str(), 400, "1 to 64 letters"),
    ];

    for (name, status, text) in cases {
        let answer = enroll(&desk, &bearer, &invited.token, name).await;
        assert_eq!(answer.status, status, "{name}");
        assert!(said(&answer).contains(text), "{name}: {}", said(&answer));
    }
    let not_json = call(&desk, "/relay/enroll", &bearer, &json!({ "gatewayId": "gw" })).await;
    assert_eq!(not_json.status, 400);
    assert_eq!(enroll(&desk, &bearer, &invited.token, &long[..64]).await.status, 200);
}

#[tokio::test]
async fn who_shows_nothing_good_is_refused_and_counted() {
    let desk = TestDesk::open().await;
    let ann = desk.household("ann", "gw-1").await;
    let invited = invited(&desk, &ann).await;
    let upgrade = upgrade_token_at("gw-1", &ann.secret, 300);
    let bad = ["", "x", "a.b.c", upgrade.as_str()];
    for bearer in bad {
        let answer = enroll(&desk, bearer, &invited.token, "gw-2").await;
        assert_eq!(answer.status, 401, "{bearer}");
    }
    for _ in bad.len()..UPGRADE_FAILURES_MAX as usize {
        assert_eq!(enroll(&desk, "x", &invited.token, "gw-2").await.status, 401);
    }

    assert_eq!(enroll(&desk, "x", &invited.token, "gw-2").await.status, 429);
    let bearer = access_token(&desk, &invited).await;
    let guess = enroll(&desk, &bearer, &Key::new("guess".to_owned()), "gw-2").await;
    assert_eq!(guess.status, 429, "a guess at a token counts too");
    assert_eq!(enroll(&desk, &bearer, &invited.token, "gw-2").await.status, 200);
}

#[tokio::test]
async fn what_is_asked_beside_the_line_needs_the_right_proof() {
    let desk = TestDesk::open().await;
    let ann = desk.household("ann", "gw-1").await;
    let access = access_token(&desk, &invited(&desk, &ann).await).await;
    let upgrade = upgrade_token_at("gw-1", &ann.secret, 300);
    let policy = json!({ "platform": "discord", "requireAddress": true });
    let empty = json!({});
    let cases = [
        ("/relay/policy", upgrade.as_str(), &policy, 200),
        ("/relay/policy", &upgrade, &empty, 400),
        ("/relay/policy", &access, &policy, 401),
        ("/relay/policy", "", &policy, 401),
    ];

    for (path, bearer, body, status) in cases {
        let answer = call(&desk, path, bearer, body).await;
        assert_eq!(answer.status, status, "{path} {body}");
        assert_eq!(said(&answer).is_empty(), status == 200, "it says what to do");
    }
}
