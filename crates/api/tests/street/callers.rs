//! Credentials of an agent: a token of an issuer or its gateway's upgrade token, and neither is accepted as the other.

use nightdesk_testdesk::{
    Answered, Heard, Household, TestDesk, TestGateway, post, upgrade_token_at,
};
use nightdesk_types::limits::UPGRADE_FAILURES_MAX;
use nightdesk_types::{AgentId, Clock, SystemClock, TenantScope};
use serde_json::json;

use crate::oauth::{access_token, invited};

/// A token of the desk's issuer for one agent.
async fn agent_token(desk: &TestDesk, scope: TenantScope, agent: AgentId) -> String {
    let now = SystemClock::start().now();
    let token = desk.desk.stops.issuers.own_issuer().agent_token(scope, agent, now).await;
    token.expect("a token").with(str::to_owned)
}

async fn token_of(desk: &TestDesk, household: &Household) -> String {
    agent_token(desk, household.scope, household.agent).await
}

/// Calls a route that every caller may call; a refusal does not reveal the caller.
async fn ask(desk: &TestDesk, bearer: &str) -> Answered {
    let bearer = format!("Bearer {bearer}");
    let headers = [("authorization", bearer.as_str()), ("content-type", "application/json")];
    let body = json!({ "platform": "discord" }).to_string();
    post(desk.address(), "/relay/policy", &headers, body.as_bytes()).await
}

#[tokio::test]
async fn a_token_for_an_agent_is_a_caller_and_one_for_the_desk_is_none() {
    let desk = TestDesk::open().await;
    let ann = desk.household("ann", "gw-1").await;
    let bob = desk.household("bob", "gw-1").await;
    let nobody: AgentId = "00000000-0000-4000-8000-000000000007".parse().expect("an id");
    let good = token_of(&desk, &ann).await;
    let cases = [
        ("a token for the agent", good.clone(), true),
        ("the gateway's own", upgrade_token_at("gw-1", &ann.secret, 300), true),
        ("a token for the desk", access_token(&desk, &invited(&desk, &ann).await).await, false),
        ("another tenant's agent", agent_token(&desk, bob.scope, ann.agent).await, false),
        ("no agent at all", agent_token(&desk, ann.scope, nobody).await, false),
        ("cut short", good[..good.len() - 1].to_owned(), false),
        ("nothing", String::new(), false),
    ];

    for (name, bearer, known) in cases {
        assert_eq!(ask(&desk, &bearer).await.status != 401, known, "{name}");
    }
}

// T53: a credential that one parser refuses is never given to the other.
#[tokio::test]
async fn neither_proof_is_taken_for_the_other() {
    let desk = TestDesk::open().await;
    let ann = desk.household("ann", "gw-1").await;
    let (jwt, upgrade) = (token_of(&desk, &ann).await, upgrade_token_at("gw-1", &ann.secret, 300));
    let parts: Vec<&str> = jwt.split('.').collect();
    let mixed = [
        format!("{upgrade}.."),
        format!("..{upgrade}"),
        format!("{}.{upgrade}.{}", parts[0], parts[2]),
        format!("{}.{}.{upgrade}", parts[0], parts[1]),
        format!("{upgrade}.{jwt}"),
        jwt.replace('.', ""),
        jwt.replacen('.', "", 1),
    ];

    for bearer in mixed {
        assert_eq!(ask(&desk, &bearer).await.status, 401, "{bearer}");
        let dialled = TestGateway::dial_with(desk.address(), &bearer).await;
        assert_eq!(dialled.err(), Some(401), "{bearer}");
    }
}

#[tokio::test]
async fn an_agent_dials_with_its_token_and_is_handed_what_waits() {
    let desk = TestDesk::open().await;
    let ann = desk.household("ann", "gw-1").await;
    desk.says(&ann, "ann", "k1").await;

    let mut gateway = TestGateway::dial_with(desk.address(), &token_of(&desk, &ann).await)
        .await
        .expect("the token is good");
    gateway.hello("discord").await;
    gateway.hear_frame("descriptor").await;
    assert_eq!(gateway.hear_frame("inbound").await["event"]["text"], "k1");
}

// T50: 4401 is final for the stock client, so it is sent only for a valid token of a revoked row.
#[tokio::test]
async fn only_who_was_revoked_is_told_so() {
    let desk = TestDesk::open().await;
    let ann = desk.household("ann", "gw-1").await;
    let bearer = token_of(&desk, &ann).await;
    let name = format!("agent:{}", ann.agent);
    drop(TestGateway::dial_with(desk.address(), &bearer).await.expect("the token is good"));
    assert!(desk.register.store().revoke(ann.scope, &name).await.expect("revoke a gateway"));

    let mut revoked = TestGateway::dial_with(desk.address(), &bearer).await.expect("an upgrade");
    revoked.hello("discord").await;
    assert_eq!(revoked.hear().await, Heard::Closed(4401));
    let bad = TestGateway::dial_with(desk.address(), &bearer[..bearer.len() - 2]).await;
    assert_eq!(bad.err(), Some(401), "a bad token of the same agent proves nothing");
}

#[tokio::test]
async fn bad_tokens_are_counted_and_good_ones_are_not_refused_for_them() {
    let desk = TestDesk::open().await;
    let ann = desk.household("ann", "gw-1").await;
    for _ in 0..UPGRADE_FAILURES_MAX {
        assert_eq!(ask(&desk, "a.b.c").await.status, 401);
    }

    assert_eq!(ask(&desk, "a.b.c").await.status, 429);
    assert_ne!(ask(&desk, &token_of(&desk, &ann).await).await.status, 429);
}
