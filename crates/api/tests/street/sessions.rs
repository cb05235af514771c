//! Sessions of agents without a login, in the form that the stock client uses.

use std::time::Duration;

use nightdesk_register::issuer::{IssuerSession, TokenPair};
use nightdesk_testdesk::{Answered, Household, TestDesk, post};
use nightdesk_types::limits::REFRESH_OVERLAP;
use nightdesk_types::{Clock, SystemClock};
use serde_json::json;

const FORM: (&str, &str) = ("content-type", "application/x-www-form-urlencoded");

async fn begun(desk: &TestDesk, household: &Household) -> (IssuerSession, TokenPair) {
    let (issuer, now) = (desk.desk.stops.issuers.own_issuer(), SystemClock::start().now());
    let begun = issuer.begin_session(household.scope, household.agent, now).await;
    begun.expect("begin a session")
}

/// Refreshes as 0.19.0 does: under `/api`, with the token in a header of its own.
async fn refresh(desk: &TestDesk, token: &str) -> Answered {
    let headers = [FORM, ("accept", "application/json"), ("x-nous-refresh-token", token)];
    let form = b"grant_type=refresh_token&client_id=hermes-cli-vps";
    post(desk.address(), "/api/oauth/token", &headers, form).await
}

/// True if the desk accepts the token as the agent's identity.
async fn is_known(desk: &TestDesk, access: &str) -> bool {
    let bearer = format!("Bearer {access}");
    let headers = [("authorization", bearer.as_str()), ("content-type", "application/json")];
    let body = json!({ "gatewayId": "gw-s", "platform": "discord" }).to_string();
    post(desk.address(), "/relay/provision", &headers, body.as_bytes()).await.status == 200
}

#[tokio::test]
async fn a_session_is_refreshed_and_its_tokens_are_the_agents() {
    let desk = TestDesk::open().await;
    let ann = desk.household("ann", "gw-1").await;
    let (_, grant) = begun(&desk, &ann).await;
    assert!(is_known(&desk, &grant.access.with(str::to_owned)).await);
    let mut token = grant.refresh.with(str::to_owned);
    for _ in 0..3 {
        let answer = refresh(&desk, &token).await;
        assert_eq!(answer.status, 200, "{}", answer.text);
        assert!(answer.text.contains("cache-control: no-store"), "{}", answer.text);
        let body = answer.json();
        assert_eq!((&body["token_type"], &body["expires_in"]), (&"Bearer".into(), &3600.into()));
        assert!(is_known(&desk, body["access_token"].as_str().expect("a token")).await);
        let next = body["refresh_token"].as_str().expect("the next").to_owned();
        assert_ne!(next, token);
        token = next;
    }

    let found = desk.register.store().gateways_named("gw-s").await.expect("find a gateway");
    assert_eq!((found[0].gateway.scope, found[0].gateway.agent), (ann.scope, ann.agent));
}

#[tokio::test]
async fn a_token_that_two_have_ends_the_session() {
    let desk = TestDesk::open().await;
    let ann = desk.household("ann", "gw-1").await;
    let (_, grant) = begun(&desk, &ann).await;
    let (stolen, access) = (grant.refresh.with(str::to_owned), grant.access.with(str::to_owned));
    let next = refresh(&desk, &stolen).await.json()["refresh_token"].as_str().map(str::to_owned);
    let next = next.expect("the next");
    assert_eq!(refresh(&desk, &stolen).await.status, 200, "its answer may have been lost");
    desk.store.clock().let_pass(REFRESH_OVERLAP + Duration::from_secs(1));

    for token in [stolen.as_str(), &next] {
        let answer = refresh(&desk, token).await;
        assert_eq!((answer.status, answer.json()["error"].as_str()), (400, Some("invalid_grant")));
    }
    assert!(!is_known(&desk, &access).await, "also with the token it still has");
}

#[tokio::test]
async fn a_stolen_token_begins_no_second_chain() {
    let desk = TestDesk::open().await;
    let ann = desk.household("ann", "gw-1").await;
    let (_, grant) = begun(&desk, &ann).await;
    let stolen = grant.refresh.with(str::to_owned);
    let successor = |answer: &Answered| answer.json()["refresh_token"].as_str().map(str::to_owned);
    let next = successor(&refresh(&desk, &stolen).await).expect("the next");

    assert_eq!(successor(&refresh(&desk, &stolen).await), Some(next.clone()), "the same again");
    let after = successor(&refresh(&desk, &next).await).expect("the one after");
    let late = refresh(&desk, &stolen).await;
    assert_eq!((late.status, late.json()["error"].as_str()), (400, Some("invalid_grant")));
    assert_eq!(refresh(&desk, &after).await.status, 400, "the session is over for both");
    assert!(!is_known(&desk, &grant.access.with(str::to_owned)).await);
}

#[tokio::test]
async fn an_ended_session_and_a_guess_are_told_the_same() {
    let desk = TestDesk::open().await;
    let ann = desk.household("ann", "gw-1").await;
    let (session, grant) = begun(&desk, &ann).await;
    let token = grant.refresh.with(str::to_owned);
    let ended = desk.register.store().end_session(ann.scope, &session).await;
    assert!(ended.expect("end a session"));

    let mut guess = token.clone();
    guess.replace_range(token.len() - 4.., "0000");
    for token in [token.as_str(), &guess, "rt-1", ""] {
        let answer = refresh(&desk, token).await;
        assert_eq!((answer.status, answer.json()["error"].as_str()), (400, Some("invalid_grant")));
    }
    assert!(!is_known(&desk, &grant.access.with(str::to_owned)).await);
}
