//! Rate limits of management calls, and quotas of a tenant.

use std::time::{Duration, Instant};

use nightdesk_testdesk::{Answered, Household, TestDesk, get, post};
use nightdesk_types::limits::{
    FRAMES_AT_ONCE_SECS, FRAMES_PER_SECOND, MANAGEMENT_PER_MINUTE, SCOPES_PER_HOUR,
};
use nightdesk_types::{Clock, Quota, SystemClock};
use serde_json::json;

async fn bearer(desk: &TestDesk, household: &Household) -> String {
    let Household { scope, agent, .. } = household;
    let now = SystemClock::start().now();
    let token = desk.desk.stops.issuers.own_issuer().agent_token(*scope, *agent, now).await;
    format!("Bearer {}", token.expect("a token").with(str::to_owned))
}

async fn look(desk: &TestDesk, bearer: &str) -> u16 {
    get(desk.address(), "/manage", &[("authorization", bearer)]).await.status
}

async fn claim(desk: &TestDesk, bearer: &str, chat: u32) -> Answered {
    let headers = [("authorization", bearer), ("content-type", "application/json")];
    let body = json!({ "platform": "discord", "chatId": format!("chat-{chat}") }).to_string();
    post(desk.address(), "/manage/scope", &headers, body.as_bytes()).await
}

#[tokio::test]
async fn an_agent_is_managed_so_often_a_minute() {
    let desk = TestDesk::open().await;
    let (ann, bob) = (desk.household("ann", "gw-1").await, desk.household("bob", "gw-2").await);
    let anns = bearer(&desk, &ann).await;
    for _ in 0..MANAGEMENT_PER_MINUTE {
        assert_eq!(look(&desk, &anns).await, 200);
    }

    assert_eq!(look(&desk, &anns).await, 429);
    assert_eq!(look(&desk, &bearer(&desk, &bob).await).await, 200, "another is not held up");
}

#[tokio::test]
async fn an_agent_claims_so_often_an_hour() {
    let desk = TestDesk::open().await;
    let anns = bearer(&desk, &desk.household("ann", "gw-1").await).await;
    for chat in 0..SCOPES_PER_HOUR {
        assert_eq!(claim(&desk, &anns, chat).await.status, 204);
    }

    let refused = claim(&desk, &anns, SCOPES_PER_HOUR).await;
    assert_eq!((refused.status, &refused.json()["code"]), (429, &json!("too-many-requests")));
}

#[tokio::test]
async fn a_tenant_has_so_many_places_and_more_as_soon_as_it_may() {
    let desk = TestDesk::open().await;
    let ann = desk.household("ann", "gw-1").await;
    let (anns, store) = (bearer(&desk, &ann).await, desk.register.store());
    store.set_quota(ann.scope, Quota::Grants, 1).await.expect("set a quota");
    assert_eq!(claim(&desk, &anns, 1).await.status, 204);

    let refused = claim(&desk, &anns, 2).await;
    assert_eq!((refused.status, &refused.json()["code"]), (403, &json!("over-quota")));
    store.set_quota(ann.scope, Quota::Grants, 2).await.expect("raise a quota");
    assert_eq!(claim(&desk, &anns, 2).await.status, 204);
}

#[tokio::test]
async fn a_gateway_that_says_too_much_is_read_later() {
    let desk = TestDesk::open().await;
    let ann = desk.household("ann", "gw-1").await;
    let mut gateway = desk.dial(&ann).await;
    gateway.hello("discord").await;
    gateway.hear_frame("descriptor").await;
    let frames = FRAMES_PER_SECOND * (FRAMES_AT_ONCE_SECS + 1);
    let began = Instant::now();
    for number in 0..frames {
        let action = json!({ "op": "none such" });
        let request = format!("r{number}");
        gateway.say(&json!({ "type": "outbound", "requestId": request, "action": action })).await;
    }
    for _ in 0..frames {
        gateway.hear_frame("outbound_result").await;
    }

    // All but those that may come at once took their time, and none was lost.
    assert!(began.elapsed() >= Duration::from_millis(980), "{:?}", began.elapsed());
}
