//! Explanations of events, for the owner of the agent.

use nightdesk_testdesk::{Answered, Household, TestDesk, TestPlatform, get, upgrade_token_at};
use nightdesk_types::{EntryId, Incarnation, Seq};
use serde_json::json;

async fn ask(desk: &TestDesk, household: &Household, event: &str) -> Answered {
    let bearer = upgrade_token_at(&household.name, &household.secret, 300);
    let bearer = format!("Bearer {bearer}");
    let path = format!("/v1/events/{event}/explanation");
    get(desk.address(), &path, &[("authorization", &bearer)]).await
}

/// Stores the refusals, as a sweep does.
async fn refusals_are_written(desk: &TestDesk) {
    let (waiting, _) = desk.desk.refusals.take();
    desk.desk.stops.gate.note_refusals(&waiting).await.expect("note refusals");
}

#[tokio::test]
async fn an_entry_is_followed_to_its_answer() {
    let (desk, platform) = (TestDesk::open().await, TestPlatform::open().await);
    let ann = desk.household_with("ann", "gw-1", platform.settings()).await;
    let mut gateway = desk.dial(&ann).await;
    gateway.hello("discord").await;
    gateway.hear_frame("descriptor").await;
    desk.says(&ann, "ann", "k1").await;
    let frame = gateway.hear_frame("inbound").await;
    let entry = frame["bufferId"].as_str().expect("a name").to_owned();
    let waiting = ask(&desk, &ann, &entry).await.json();
    assert_eq!((&waiting["outcome"], &waiting["state"]["is"]), (&json!("held"), &json!("waiting")));

    gateway.say(&json!({ "type": "inbound_ack", "bufferId": entry })).await;
    let action = json!({ "op": "send", "chat_id": "c1", "content": "hi" });
    let send = json!({ "type": "outbound", "requestId": "r1", "action": action });
    gateway.say(&send).await;
    gateway.hear_frame("outbound_result").await;
    while desk.acked(&ann).await == 0 {
        tokio::task::yield_now().await;
    }
    let told = ask(&desk, &ann, &entry).await.json();
    assert_eq!(told["state"]["is"], "acked", "{told}");
    assert_eq!(told["chat"], "c1");
    assert_eq!(
        (&told["answers"][0]["request"], &told["answers"][0]["came"]),
        (&json!("r1"), &json!("delivered"))
    );
    assert!(told["agent"]["line_since"].is_string(), "{told}");
}

#[tokio::test]
async fn a_refusal_names_the_layer_that_said_no() {
    let desk = TestDesk::open().await;
    let ann = desk.household("ann", "gw-1").await;
    let bob = desk.household("bob", "gw-2").await;
    let on = nightdesk_register::AgentOnBot { scope: ann.scope, agent: ann.agent, bot: ann.bot };
    let hall = nightdesk_types::GrantTarget::for_chat(None, "hall");
    desk.register.store().grant(on, &hall, None).await.expect("grant a chat");
    desk.says_in_room("hall", &ann, "stranger", "k1").await;
    desk.says(&ann, "stranger", "k2").await;
    refusals_are_written(&desk).await;

    let told = ask(&desk, &ann, "k1").await.json();
    let refusal = &told["refusals"][0];
    assert_eq!((&told["outcome"], &refusal["layer"]), (&json!("refused"), &json!("authorised")));
    assert_eq!(refusal["reason"], "not-welcome");
    assert_eq!(ask(&desk, &ann, "k2").await.status, 404, "nobody's agent was thought of");
    assert_eq!(ask(&desk, &bob, "k1").await.status, 404, "another tenant's");
}

#[tokio::test]
async fn who_is_passed_over_is_told_although_another_received_it() {
    let desk = TestDesk::open().await;
    let ann = desk.household("ann", "gw-1").await;
    let bob = desk.household("bob", "gw-2").await;
    let on = nightdesk_register::AgentOnBot { scope: bob.scope, agent: bob.agent, bot: ann.bot };
    desk.register.store().bind(on, "bob").await.expect("bind the author");
    let hall = nightdesk_types::GrantTarget::for_chat(None, "hall");
    desk.register.store().grant(on, &hall, None).await.expect("grant a chat");

    desk.says_in_room("hall", &ann, "ann", "k1").await;
    refusals_are_written(&desk).await;
    assert_eq!(desk.head_of(&ann).await.get(), 1, "ann's own agent has it");
    assert_eq!(ask(&desk, &bob, "k1").await.json()["refusals"][0]["reason"], "not-welcome");
    assert_eq!(ask(&desk, &ann, "k1").await.status, 404);
}

#[tokio::test]
async fn nobody_else_is_told() {
    let desk = TestDesk::open().await;
    let (ann, bob) = (desk.household("ann", "gw-1").await, desk.household("bob", "gw-2").await);
    desk.says(&ann, "ann", "k1").await;
    let (agent, incarnation) = (ann.agent, Incarnation::default());
    let entry = EntryId { agent, incarnation, seq: Seq::new(1) };
    let of_another_history = EntryId { incarnation: Incarnation::new(7), ..entry };

    assert_eq!(ask(&desk, &ann, &entry.to_string()).await.status, 200);
    assert_eq!(ask(&desk, &ann, &of_another_history.to_string()).await.status, 404);
    assert_eq!(ask(&desk, &bob, &entry.to_string()).await.status, 404);
    let path = format!("/v1/events/{entry}/explanation");
    assert_eq!(get(desk.address(), &path, &[]).await.status, 401);
}
