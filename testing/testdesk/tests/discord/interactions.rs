//! Tests interactions that are posted to the desk.

use nightdesk_testkit::cases::begin;

use nightdesk_fake_discord::{Fault, Kind};

use super::*;

const KIND: &str = "discord.interaction_token";

/// `{"type": 5}`: the answer is deferred.
const DEFERRED: u64 = 5;

async fn on_a_hook() -> (Stage, TestGateway) {
    let stage = stage().await;
    let gateway = stage.on_a_line().await;
    let hook = format!("http://{}/hooks/{}", stage.desk.address(), stage.path);
    stage.fake.post_interactions(TOKEN, &hook).await.expect("the desk stands Discord's trial");
    (stage, gateway)
}

/// Makes Ann give a command. Returns her agent's entry.
async fn command(stage: &Stage, gateway: &mut TestGateway) -> (u64, Value) {
    let options = json!([{ "name": "what", "type": 3, "value": "tea" }]);
    let interaction = stage.fake.command(BOT, ANN, GENERAL, ("make", &options));
    (interaction, heard(gateway).await)
}

async fn follow_up(gateway: &mut TestGateway, request: &str) -> Value {
    let session_key = format!("agent:main:discord:group:{GENERAL}:{ANN}");
    let action = json!({
        "op": "follow_up", "session_key": session_key, "kind": KIND, "content": "here you are",
    });
    does(gateway, request, action).await
}

#[tokio::test]
async fn a_command_is_deferred_and_answered_by_a_follow_up() {
    let (stage, mut gateway) = on_a_hook().await;
    let (_, event) = command(&stage, &mut gateway).await;
    assert_eq!(event["text"], json!("/make tea"));
    let deferred = |fake: &FakeDiscord| fake.interactions()[0].answered == Some(DEFERRED);
    assert!(stage.fake.until(PATIENCE, deferred).await, "{:?}", stage.fake.interactions());
    let token = stage.fake.interactions()[0].token.clone();
    assert!(!event.to_string().contains(&token), "what was lent stays here");

    let result = follow_up(&mut gateway, "r1").await;
    assert_eq!((&result["success"], &result["note"]), (&json!(true), &Value::Null), "{result}");
    let said = stage.fake.interactions()[0].said.clone();
    assert!(said.iter().any(|said| said["content"] == json!("here you are")), "{said:?}");
}

#[tokio::test]
async fn what_comes_too_late_for_an_interaction_is_said_as_an_ordinary_message() {
    let (stage, mut gateway) = on_a_hook().await;
    let case = begin("discord", "fault", "an interaction that ended");
    let (interaction, _) = command(&stage, &mut gateway).await;
    stage.fake.end_interaction(interaction);

    let result = follow_up(&mut gateway, "r1").await;
    assert_eq!(result["success"], true, "{result}");
    assert!(result["note"].as_str().is_some_and(|note| note.contains("ended")), "{result}");
    let said = stage.fake.messages(GENERAL).pop().expect("a message");
    assert_eq!(said["content"], json!("here you are"));
    case.passed();
}

#[tokio::test]
async fn what_comes_hours_too_late_is_said_where_it_was_asked_for_a_day() {
    let (stage, mut gateway) = on_a_hook().await;
    let (interaction, _) = command(&stage, &mut gateway).await;
    stage.fake.end_interaction(interaction);
    for (hours, is_said) in [(23, true), (2, false)] {
        stage.desk.wakes_after(Duration::from_hours(hours)).await;
        let result = follow_up(&mut gateway, &format!("after {hours}")).await;
        assert_eq!(result["success"], is_said, "{hours}: {result}");
    }
    let said = stage.fake.messages(GENERAL);
    let said = said.iter().filter(|said| said["content"] == json!("here you are"));
    assert_eq!(said.count(), 1);
}

#[tokio::test]
async fn who_reaches_nobody_is_told_so_at_once() {
    let (stage, _gateway) = on_a_hook().await;
    stage.fake.command(BOT, BOB, GENERAL, ("make", &json!([])));

    let answered = |fake: &FakeDiscord| fake.interactions()[0].answered.is_some();
    assert!(stage.fake.until(PATIENCE, answered).await);
    assert_ne!(stage.fake.interactions()[0].answered, Some(DEFERRED), "nobody is thinking");
}

/// Discord waits three seconds for an answer, and never retries.
#[tokio::test]
async fn who_gives_a_command_is_told_in_time_that_it_was_not_kept() {
    let (stage, _gateway) = on_a_hook().await;
    // The desk checks with Discord, which is slow, if Bob's agent may see it. The store is slow, too.
    let bob = stage.desk.household("bob", "gw-bob").await;
    let on = AgentOnBot { scope: bob.scope, agent: bob.agent, bot: stage.bot };
    let store = stage.desk.register.store();
    store.bind(on, &BOB.to_string()).await.expect("bind Bob");
    stage.desk.grant(bob.scope, bob.agent, stage.bot, &GENERAL.to_string()).await;
    for route in ["GET /guilds/{}", "GET /channels/{}", "GET /guilds/{}/members/{}"] {
        stage.fake.fault(Fault::at(route, 1, Kind::Slow(PATIENCE)));
    }
    let held = stage.desk.store.hold_accepts().await;
    stage.fake.command(BOT, ANN, GENERAL, ("make", &json!([])));

    let answered = |fake: &FakeDiscord| fake.interactions()[0].answered.is_some();
    assert!(stage.fake.until(PATIENCE, answered).await, "in time");
    assert_ne!(stage.fake.interactions()[0].answered, Some(DEFERRED), "nobody is thinking");
    drop(held);
}
