//! Follow-ups, from outside: a capability is used only for the agent and session that it was given for, and no agent
//! ever sees it.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use nightdesk_register::AgentOnBot;
use nightdesk_testdesk::{Household, TestDesk, TestGateway, TestPlatform};
use nightdesk_types::limits::{CAPABILITY_GOOD_FOR_MAX, CAPABILITY_PLACE_KEPT_FOR};
use serde_json::{Value, json};

const KIND: &str = "discord.interaction_token";

/// The session key of Ann's client for chat `c1`.
const SESSION: &str = "agent:main:discord:dm:c1";

/// Each request has a number of its own.
static REQUESTS: AtomicUsize = AtomicUsize::new(0);

struct Stage {
    desk: TestDesk,
    platform: TestPlatform,
    ann: Household,
    bob: Household,
}

impl Stage {
    async fn set() -> Self {
        let (desk, platform) = (TestDesk::open().await, TestPlatform::open().await);
        let ann = desk.household_with("ann", "gw-1", platform.settings()).await;
        let bob = desk.household_with("bob", "gw-2", platform.settings()).await;
        Self { desk, platform, ann, bob }
    }

    /// Has Ann's author write in `c1`, with this capability of the platform.
    async fn lends(&self, key: &str, value: &str, secs: Option<u64>) {
        let source = json!({ "chat_id": "c1", "user_id": "ann" });
        let lent = json!({ "kind": KIND, "value": value, "expires_in_s": secs });
        let event = json!({ "id": key, "event": { "source": source }, "capability": lent });
        assert_eq!(self.desk.hook(&self.ann, &event).await, 200);
    }

    /// Checks that a follow-up is refused without a call to the platform.
    async fn refused(&self, why: &str, gateway: &mut TestGateway, named: (&str, &str)) {
        let before = self.platform.calls().len();
        let result = follow_up(gateway, named).await;
        assert_eq!(result["error"], "capability absent or expired", "{why}: {result}");
        assert_eq!(result["success"], false, "{why}");
        assert_eq!(self.platform.calls().len(), before, "{why}: nobody was called");
    }
}

async fn on_a_line(desk: &TestDesk, household: &Household) -> TestGateway {
    let mut gateway = desk.dial(household).await;
    gateway.hello("discord").await;
    gateway.hear_frame("descriptor").await;
    gateway
}

async fn follow_up(gateway: &mut TestGateway, (session, kind): (&str, &str)) -> Value {
    let action =
        json!({"op": "follow_up", "session_key": session, "kind": kind, "content": "done"});
    let id = format!("r{}", REQUESTS.fetch_add(1, Ordering::Relaxed));
    gateway.say(&json!({"type": "outbound", "requestId": id, "action": action})).await;
    gateway.hear_frame("outbound_result").await["result"].clone()
}

#[tokio::test]
async fn a_follow_up_uses_what_was_lent_and_the_agent_never_sees_it() {
    let mut stage = Stage::set().await;
    let mut gateway = on_a_line(&stage.desk, &stage.ann).await;
    stage.lends("k1", "t0ken", None).await;
    let entry = gateway.hear_frame("inbound").await;
    assert!(!entry.to_string().contains("t0ken"), "it is no part of the event: {entry}");

    let result = follow_up(&mut gateway, (SESSION, KIND)).await;
    assert_eq!((&result["success"], &result["message_id"]), (&json!(true), &json!("m1")));
    let call = stage.platform.next().await;
    assert_eq!((&call["chat_id"], &call["content"]), (&json!("c1"), &json!("done")));
    assert_eq!(call["capability"], "t0ken");
}

#[tokio::test]
async fn only_the_agent_and_session_it_was_lent_for_may_use_it() {
    let stage = Stage::set().await;
    let Household { scope, bot, .. } = stage.ann;
    let register = &stage.desk.register;
    let sister = register.store().create_agent(scope, "sister").await.expect("enter an agent");
    let (gateway, secret) =
        register.create_gateway(scope, sister, "gw-3").await.expect("enter a gateway");
    // The sister is bound on the bot and wrote in the chat, too.
    register.store().bind(AgentOnBot { scope, agent: sister, bot }, "zoe").await.expect("bind");
    assert_eq!(stage.desk.says_in("c1", &stage.ann, "zoe", "k0").await, 200);
    let sister =
        Household { agent: sister, gateway, name: "gw-3".to_owned(), secret, ..stage.ann.clone() };
    let mut anns = on_a_line(&stage.desk, &stage.ann).await;
    let mut sisters = on_a_line(&stage.desk, &sister).await;
    let mut bobs = on_a_line(&stage.desk, &stage.bob).await;
    stage.lends("k1", "t0ken", None).await;
    anns.hear_frame("inbound").await;
    sisters.hear_frame("inbound").await;

    stage.refused("another tenant", &mut bobs, (SESSION, KIND)).await;
    stage.refused("another agent of the tenant", &mut sisters, (SESSION, KIND)).await;
    stage.refused("another session", &mut anns, ("agent:main:discord:dm:c2", KIND)).await;
    stage.refused("another kind", &mut anns, (SESSION, "discord.other")).await;
    assert_eq!(follow_up(&mut anns, (SESSION, KIND)).await["success"], true, "its own");
}

#[tokio::test]
async fn what_was_lent_ends_and_what_comes_later_is_said_plainly_for_a_day() {
    let mut stage = Stage::set().await;
    let mut gateway = on_a_line(&stage.desk, &stage.ann).await;
    let clock = stage.desk.store.clock();
    for (key, secs, life) in [
        ("short", Some(60), Duration::from_mins(1)),
        ("whatever the platform says", Some(86_400), CAPABILITY_GOOD_FOR_MAX),
    ] {
        stage.lends(key, "t0ken", secs).await;
        gateway.hear_frame("inbound").await;
        clock.let_pass(life.checked_sub(Duration::from_secs(1)).unwrap_or_default());
        assert_eq!(follow_up(&mut gateway, (SESSION, KIND)).await["note"], Value::Null, "{key}");
        assert_eq!(stage.platform.next().await["capability"], "t0ken", "{key}");
        clock.let_pass(Duration::from_secs(1));
        let late = follow_up(&mut gateway, (SESSION, KIND)).await;
        assert_eq!(late["success"], true, "{key}");
        assert!(late["note"].as_str().is_some_and(|note| note.contains("ended")), "{late}");
        assert_eq!(stage.platform.next().await.get("capability"), None, "{key}");
        clock.let_pass(CAPABILITY_PLACE_KEPT_FOR);
        stage.refused(key, &mut gateway, (SESSION, KIND)).await;
    }
}
