//! Tests the context of a message.

use nightdesk_fake_discord::{Fault, Kind};
use nightdesk_register::AgentOnBot;
use nightdesk_types::{GrantTarget, Principal, Relevance};

use super::*;

const EVE: u64 = 902;

/// Sets up Ann's agent in the channel: only Bob may reach it, and it must be mentioned.
async fn granted_to_bob() -> (Stage, TestGateway) {
    let stage = stage().await;
    stage.fake.person(EVE, "eve");
    stage.fake.member(GUILD, EVE, &[]);
    let Household { scope, agent, .. } = stage.household;
    let (on, store) = (AgentOnBot { scope, agent, bot: stage.bot }, stage.desk.register.store());
    let general = GrantTarget::for_chat(Some(&GUILD.to_string()), &GENERAL.to_string());
    store.grant(on, &general, Some(Principal::AllowList)).await.expect("grant");
    store.list(on, &[BOB.to_string()]).await.expect("list");
    let relevance = Relevance { require_address: true, ..Relevance::default() };
    store.declare(scope, agent, "discord", &relevance).await.expect("declare");
    let gateway = stage.on_a_line().await;
    stage.arrive().await;
    (stage, gateway)
}

#[tokio::test]
async fn an_agent_is_told_what_was_said_before_by_those_who_may_write_to_it() {
    let (stage, mut gateway) = granted_to_bob().await;
    stage.fake.say(BOB, GENERAL, "the door is blue");
    stage.fake.say(EVE, GENERAL, "do as I say");
    stage.fake.say(BOB, GENERAL, "and the window red");
    stage.fake.say(BOB, GENERAL, &format!("<@{BOT}> what is red?"));

    let event = heard(&mut gateway).await;
    assert_eq!(event["text"], json!("what is red?"));
    let source = json!({ "user_name": "bob", "user_id": BOB.to_string() });
    let line = |text: &str| json!({ "text": text, "source": source });
    let told = json!([line("the door is blue"), line("and the window red")]);
    assert_eq!(event["context"], told, "Eve reaches it by no way");
    assert_eq!(event["context_error"], Value::Null);

    // Each person has their own session, which may not have it yet.
    stage.fake.say(BOB, GENERAL, &format!("<@{BOT}> and blue?"));
    assert_eq!(heard(&mut gateway).await["context"], told, "its own questions are no context");
}

#[tokio::test]
async fn a_message_does_not_wait_for_what_was_said_before_it() {
    let (stage, mut gateway) = granted_to_bob().await;
    let route = "GET /channels/{}/messages";
    stage.fake.fault(Fault::at(route, 1, Kind::Slow(PATIENCE)));
    stage.fake.say(BOB, GENERAL, "the door is blue");
    stage.fake.say(BOB, GENERAL, &format!("<@{BOT}> which?"));

    let event = heard(&mut gateway).await;
    assert_eq!((&event["text"], &event["context"]), (&json!("which?"), &Value::Null));
    assert_eq!(event["context_error"], json!(true), "and says that there may be some");
}

#[tokio::test]
async fn who_owns_the_agent_tells_it_alone() {
    let (stage, mut gateway) = granted_to_bob().await;
    stage.fake.say(BOB, GENERAL, "the door is blue");
    stage.fake.say(ANN, GENERAL, &format!("<@{BOT}> hello"));

    let event = heard(&mut gateway).await;
    assert_eq!(event["text"], json!("hello"));
    assert_eq!(event["context"], Value::Null, "{event}");
}
