//! Fires of due jobs, at agents' callbacks and through their inboxes.

use std::time::Duration;

use nightdesk_schedule::{FireCause, FireOutcome, FireState, Target};
use nightdesk_testdesk::{CALLBACK, Household, TestDesk, TestGateway, get, post};
use nightdesk_types::{AgentId, Clock, FireId, SystemClock};
use serde_json::{Value, json};

/// A desk that keeps time, and a household whose agent has a job in a minute.
async fn armed() -> (TestDesk, Household) {
    let desk = TestDesk::open().await;
    let ann = desk.household("ann", "gw-1").await;
    desk.keep_time();
    desk.arms(&ann, "tick", 60, Target::Callback(CALLBACK.to_owned())).await;
    (desk, ann)
}

/// Lets store's time pass, and has the desk look.
fn pass(desk: &TestDesk, secs: u64) {
    desk.store.clock().let_pass(Duration::from_secs(secs));
    desk.desk.stops.schedule.claim_soon();
}

/// Waits until the household's newest fire has this state.
async fn until_stands(desk: &TestDesk, household: &Household, state: FireState) {
    while desk.fires_of(household).await.first().map(|fire| fire.state) != Some(state) {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

fn again(after: Option<u64>) -> FireOutcome {
    FireOutcome::Again("answered with status 503".to_owned(), after.map(Duration::from_secs))
}

#[tokio::test]
async fn a_job_is_told_once_and_not_early_though_the_nodes_clock_is_ahead() {
    let (desk, ann) = armed().await;
    pass(&desk, 59);
    // Two looks at least.
    tokio::time::sleep(Duration::from_millis(600)).await;
    assert_eq!(desk.fires.told(), []);

    pass(&desk, 1);
    desk.fires.made(1).await;
    until_stands(&desk, &ann, FireState::Fired).await;
    pass(&desk, 3_600);
    tokio::time::sleep(Duration::from_millis(100)).await;
    let told = desk.fires.told();
    assert_eq!(told.len(), 1);
    let fires = desk.fires_of(&ann).await;
    assert_eq!((fires.len(), fires[0].id, fires[0].tries), (1, told[0].0.fire, 1));
    assert_eq!(told[0].0.job.as_str(), "tick");
}

#[tokio::test]
async fn tries_share_an_id_and_wait_as_long_as_the_agent_asks() {
    let (desk, ann) = armed().await;
    desk.fires.answer([again(Some(60)), again(None)]);
    pass(&desk, 60);
    desk.fires.made(1).await;
    desk.settled().await;
    pass(&desk, 59);
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(desk.fires.told().len(), 1, "it asked to be left alone");
    pass(&desk, 1);
    desk.fires.made(2).await;
    desk.settled().await;
    pass(&desk, 10);
    desk.fires.made(3).await;
    until_stands(&desk, &ann, FireState::Late).await;

    let told = desk.fires.told();
    assert!(told.iter().all(|(fire, _)| fire.fire == told[0].0.fire));
    assert_eq!(told.iter().map(|(fire, _)| fire.tries).collect::<Vec<_>>(), [1, 2, 3]);
}

#[tokio::test]
async fn whoever_does_not_believe_us_twice_is_told_no_more() {
    let (desk, ann) = armed().await;
    desk.fires.answer([FireOutcome::Unauthorised, FireOutcome::Unauthorised]);
    pass(&desk, 60);
    until_stands(&desk, &ann, FireState::Missed).await;

    let fires = desk.fires_of(&ann).await;
    assert_eq!((fires[0].cause, fires[0].tries), (Some(FireCause::Refused), 2));
    assert_eq!(desk.fires.told().len(), 2);
}

#[tokio::test]
async fn an_agent_without_a_callback_is_woken_and_finds_it_in_its_inbox() {
    let desk = TestDesk::open().await;
    let ann = desk.household("ann", "gw-1").await;
    desk.is_called_at(&ann, &["https://agents.example/wake"]).await;
    desk.keep_time();
    desk.arms(&ann, "tick", 60, Target::inbox("water the plants").expect("short words")).await;
    pass(&desk, 60);
    desk.calls.made(1).await;
    until_stands(&desk, &ann, FireState::Fired).await;

    let mut gateway = desk.dial(&ann).await;
    gateway.hello("discord").await;
    gateway.hear_frame("descriptor").await;
    let frame = gateway.hear_frame("inbound").await;
    let event = &frame["event"];
    assert_eq!(event["text"], "water the plants");
    assert_eq!(event["source"]["chat_id"], "cron:tick");
    let fire = &desk.fires_of(&ann).await[0];
    let want = json!({
        "job_id": "tick", "fire_at": fire.fire_at.as_str(), "fire_id": fire.id.to_string(),
    });
    assert_eq!(event["fire"], want);
    gateway.ack(&frame["bufferId"]).await;
    assert_eq!(answered(&mut gateway).await, json!({ "success": true }), "and goes nowhere");
    assert_eq!(desk.head_of(&ann).await.get(), 1);
}

/// The result of an agent's reply to the chat of its fire.
async fn answered(gateway: &mut TestGateway) -> Value {
    let action = json!({ "op": "send", "chat_id": "cron:tick", "content": "done" });
    gateway.say(&json!({ "type": "outbound", "requestId": "r1", "action": action })).await;
    gateway.hear_frame("outbound_result").await["result"].clone()
}

#[tokio::test]
async fn nobody_is_told_of_another_households_job() {
    let (desk, ann) = armed().await;
    let bob = desk.household("bob", "gw-2").await;
    pass(&desk, 60);
    until_stands(&desk, &ann, FireState::Fired).await;

    assert_eq!(desk.fires_of(&bob).await, []);
    assert_eq!(desk.desk.stops.schedule.armed_jobs(bob.scope, ann.agent).await.expect("read"), []);
}

async fn fire_token(desk: &TestDesk, agent: AgentId) -> String {
    let fire: FireId = "00000000-0000-4000-8000-000000000007".parse().expect("an id");
    let now = SystemClock::start().now();
    let token = desk.desk.stops.issuers.own_issuer().fire_token(agent, fire, now).await;
    format!("Bearer {}", token.expect("a token").with(str::to_owned))
}

// T29: no route accepts the token of a fire.
#[tokio::test]
async fn the_token_of_a_fire_is_refused_at_every_door() {
    let desk = TestDesk::open().await;
    let ann = desk.household("ann", "gw-1").await;
    let bearer = fire_token(&desk, ann.agent).await;
    let headers = [("authorization", bearer.as_str()), ("content-type", "application/json")];
    let doors = ["/relay/policy", "/relay/provision", "/relay/enroll", "/manage/link"];
    for door in doors {
        let body = json!({ "platform": "discord", "gatewayId": "gw-1", "enrollmentToken": "t" });
        let answer = post(desk.address(), door, &headers, body.to_string().as_bytes()).await;
        assert_eq!(answer.status, 401, "{door}: {}", answer.text);
    }
    assert_eq!(get(desk.address(), "/manage", &headers).await.status, 401);
    let token = bearer.trim_start_matches("Bearer ");
    assert_eq!(TestGateway::dial_with(desk.address(), token).await.err(), Some(401));
}
