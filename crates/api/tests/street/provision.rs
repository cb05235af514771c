//! Provisioning of a gateway at boot, as stock 0.19.0 does it.

use std::time::Duration;

use nightdesk_testdesk::{Answered, Household, TestDesk, TestGateway, post};
use nightdesk_types::Quota;
use nightdesk_types::limits::{
    PROVISION_OVERLAP, PROVISION_SAME_SECRET, PROVISIONS_PER_MINUTE, ROUTE_KEYS_MAX,
};
use nightdesk_vault::Key;
use serde_json::{Value, json};

use crate::oauth::{access_token, invited};

const WAKE: &str = "https://agents.example/ann/wake";

/// The client's body for a platform.
fn body(gateway: &str, platform: &str) -> Value {
    json!({
        "gatewayId": gateway, "platform": platform, "botId": "b1", "gatewayEndpoint": "",
        "routeKeys": ["g1", "g2"],
    })
}

async fn ask(desk: &TestDesk, bearer: &str, body: &Value) -> Answered {
    let bearer = format!("Bearer {bearer}");
    let headers = [("authorization", bearer.as_str()), ("content-type", "application/json")];
    post(desk.address(), "/relay/provision", &headers, body.to_string().as_bytes()).await
}

/// Posts it with a new identity token of the household, and returns the response.
async fn boot(desk: &TestDesk, household: &Household, body: &Value) -> Value {
    let bearer = access_token(desk, &invited(desk, household).await).await;
    let answer = ask(desk, &bearer, body).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    answer.json()
}

fn secret(answer: &Value) -> Key {
    Key::new(answer["secret"].as_str().expect("a secret").to_owned())
}

async fn opens(desk: &TestDesk, gateway: &str, answer: &Value) -> bool {
    TestGateway::dial(desk.address(), gateway, &secret(answer)).await.is_ok()
}

#[tokio::test]
async fn a_gateway_asks_for_two_platforms_and_dials_with_the_first_secret() {
    let desk = TestDesk::open().await;
    let ann = desk.household("ann", "gw-1").await;
    desk.says(&ann, "ann", "k1").await;

    let first = boot(&desk, &ann, &body("gw-new", "discord")).await;
    let second = boot(&desk, &ann, &body("gw-new", "telegram")).await;
    assert_eq!(first["secret"], second["secret"], "one secret for both");
    assert_eq!(first["deliveryKey"], second["deliveryKey"]);
    assert_eq!(first["secretIssued"], true);
    assert_eq!(
        (&first["gatewayId"], &first["routeKeys"]),
        (&json!("gw-new"), &json!(["g1", "g2"]))
    );
    assert_eq!(first["tenant"], ann.scope.tenant().to_string());
    let gateway = TestGateway::dial(desk.address(), "gw-new", &secret(&first)).await;
    let mut gateway = gateway.expect("the secret is good");
    gateway.hello("discord").await;
    gateway.hear_frame("descriptor").await;
    assert_eq!(gateway.hear_frame("inbound").await["event"]["text"], "k1");
}

// Q16: old or new until then, new alone after.
#[tokio::test]
async fn the_secret_of_an_earlier_boot_ends_with_the_overlap() {
    let desk = TestDesk::open().await;
    let ann = desk.household("ann", "gw-1").await;
    let old = boot(&desk, &ann, &body("gw", "discord")).await;
    desk.store.clock().let_pass(PROVISION_SAME_SECRET + Duration::from_secs(1));
    let new = boot(&desk, &ann, &body("gw", "discord")).await;

    assert_ne!(old["secret"], new["secret"]);
    assert!(opens(&desk, "gw", &old).await && opens(&desk, "gw", &new).await);
    desk.store.clock().let_pass(PROVISION_OVERLAP + Duration::from_secs(1));
    assert!(!opens(&desk, "gw", &old).await && opens(&desk, "gw", &new).await);
}

#[tokio::test]
async fn what_an_operator_pinned_is_never_ended_by_a_boot() {
    let desk = TestDesk::open().await;
    let ann = desk.household("ann", "gw-1").await;
    boot(&desk, &ann, &body("gw-1", "discord")).await;
    desk.store.clock().let_pass(PROVISION_OVERLAP * 3);
    boot(&desk, &ann, &body("gw-1", "discord")).await;

    assert!(TestGateway::dial(desk.address(), "gw-1", &ann.secret).await.is_ok());
}

#[tokio::test]
async fn one_name_in_two_tenants_is_two_gateways() {
    let desk = TestDesk::open().await;
    let ann = desk.household("ann", "gw-1").await;
    let bob = desk.household("bob", "gw-1").await;
    let (anns, bobs) = (
        boot(&desk, &ann, &body("gw", "discord")).await,
        boot(&desk, &bob, &body("gw", "x")).await,
    );
    assert_ne!(anns["secret"], bobs["secret"]);
    let revoked = desk.register.store().revoke(ann.scope, "gw").await;
    assert!(revoked.expect("revoke a gateway"));

    assert!(opens(&desk, "gw", &bobs).await, "Bob's is not touched");
    let bearer = access_token(&desk, &invited(&desk, &ann).await).await;
    let refused = ask(&desk, &bearer, &body("gw", "discord")).await;
    assert_eq!(refused.status, 403, "Ann's stays revoked");
    assert!(refused.text.contains("choose another as GATEWAY_RELAY_ID"), "{}", refused.text);
}

// Q14, T31: a body's claims about its sender change nothing about the sender.
#[tokio::test]
async fn ids_in_a_body_are_as_good_as_none() {
    let desk = TestDesk::open().await;
    let ann = desk.household("ann", "gw-1").await;
    let bob = desk.household("bob", "gw-1").await;
    let names = ["instanceId", "tenant", "tenantId", "agentId", "agent", "org", "sub"];
    let values = [bob.agent.to_string(), bob.scope.tenant().to_string(), "bob".to_owned()];
    for (n, (name, value)) in
        names.iter().flat_map(|name| values.iter().map(move |value| (name, value))).enumerate()
    {
        let mut body = body(&format!("gw-{n}-x"), "discord");
        body[*name] = json!(value);
        let answer = boot(&desk, &ann, &body).await;
        assert_eq!(answer["tenant"], ann.scope.tenant().to_string(), "{name}={value}");
        let found = desk.register.store().gateways_named(&format!("gw-{n}-x")).await;
        let found = found.expect("find a gateway");
        assert_eq!(found.len(), 1, "{name}={value}");
        let gateway = found[0].gateway;
        assert_eq!((gateway.scope, gateway.agent), (ann.scope, ann.agent), "{name}={value}");
    }
}

#[tokio::test]
async fn an_agent_is_woken_where_its_gateway_said() {
    let desk = TestDesk::open().await;
    let ann = desk.household("ann", "gw-1").await;
    let mut said = body("gw", "discord");
    said["wakeUrl"] = json!(WAKE);
    boot(&desk, &ann, &said).await;

    assert_eq!(desk.says(&ann, "ann", "k1").await, 200);
    desk.calls.made(1).await;
    assert_eq!(desk.calls.urls(), [WAKE]);
    said["wakeUrl"] = json!("http://10.0.0.1/wake");
    let bearer = access_token(&desk, &invited(&desk, &ann).await).await;
    let refused = ask(&desk, &bearer, &said).await;
    assert_eq!(refused.status, 400);
    assert!(refused.text.contains("GATEWAY_RELAY_WAKE_URL: "), "{}", refused.text);
}

#[tokio::test]
async fn what_cannot_be_provisioned_is_told_with_what_to_do() {
    let desk = TestDesk::open().await;
    let ann = desk.household("ann", "gw-1").await;
    let store = desk.register.store();
    let owl = store.create_agent(ann.scope, "owl").await.expect("enter an agent");
    desk.register.create_gateway(ann.scope, owl, "gw-owl").await.expect("enter a gateway");
    let bearer = access_token(&desk, &invited(&desk, &ann).await).await;
    let many: Vec<String> = (0..=ROUTE_KEYS_MAX).map(|n| n.to_string()).collect();
    let mut too_many = body("gw", "discord");
    too_many["routeKeys"] = json!(many);
    let cases = [
        ("another agent's name", body("gw-owl", "discord"), 403),
        ("no name for a gateway", body("a:b", "discord"), 400),
        ("the name of tokens", body(&format!("agent:{}", ann.agent), "discord"), 400),
        ("no platform", body("gw", ""), 400),
        ("a long platform", body("gw", &"x".repeat(513)), 400),
        ("too many scopes", too_many, 400),
        ("not what is wanted", json!({ "gatewayId": "gw" }), 400),
    ];

    for (name, body, status) in cases {
        let answer = ask(&desk, &bearer, &body).await;
        assert_eq!(answer.status, status, "{name}: {}", answer.text);
        assert!(answer.json()["error"].is_string(), "{name}");
    }
    assert_eq!(ask(&desk, "a.b.c", &body("gw", "discord")).await.status, 401);
    assert_eq!(ask(&desk, "", &body("gw", "discord")).await.status, 401);
}

#[tokio::test]
async fn an_invitation_for_one_gateway_provisions_no_other() {
    let desk = TestDesk::open().await;
    let ann = desk.household("ann", "gw-1").await;
    let good_for = Duration::from_mins(10);
    let invited = desk.register.invite(ann.scope, ann.agent, Some("gw-named"), good_for).await;
    let bearer = access_token(&desk, &invited.expect("invite a gateway")).await;

    for other in ["gw-1", "gw-new"] {
        let refused = ask(&desk, &bearer, &body(other, "discord")).await;
        assert_eq!(refused.status, 403, "{other}: {}", refused.text);
        assert!(refused.text.contains("GATEWAY_RELAY_ID=gw-named"), "{}", refused.text);
    }
    for platform in ["discord", "telegram"] {
        let answer = ask(&desk, &bearer, &body("gw-named", platform)).await;
        assert_eq!(answer.status, 200, "{platform}: {}", answer.text);
    }
}

#[tokio::test]
async fn an_agent_that_provisions_without_end_is_asked_to_wait() {
    let desk = TestDesk::open().await;
    let (ann, bob) = (desk.household("ann", "gw-1").await, desk.household("bob", "gw-1").await);
    let bearer = access_token(&desk, &invited(&desk, &ann).await).await;
    for number in 0..PROVISIONS_PER_MINUTE {
        let answer = ask(&desk, &bearer, &body(&format!("gw-{number}"), "discord")).await;
        assert_ne!(answer.status, 429, "{number}: {}", answer.text);
    }

    let answer = ask(&desk, &bearer, &body("gw-more", "discord")).await;
    assert_eq!(answer.status, 429, "{}", answer.text);
    boot(&desk, &bob, &body("gw-more", "discord")).await;
}

#[tokio::test]
async fn a_tenant_with_too_many_gateways_is_told_so() {
    let desk = TestDesk::open().await;
    let ann = desk.household("ann", "gw-1").await;
    let bearer = access_token(&desk, &invited(&desk, &ann).await).await;
    let quota = desk.register.store().set_quota(ann.scope, Quota::Gateways, 1).await;
    quota.expect("set a quota");

    let answer = ask(&desk, &bearer, &body("gw-more", "discord")).await;
    assert_eq!((answer.status, &answer.json()["code"]), (403, &json!("over-quota")));
    assert!(answer.text.contains("nightdesk tenant quota"), "{}", answer.text);
    boot(&desk, &ann, &body("gw-1", "discord")).await;
}
