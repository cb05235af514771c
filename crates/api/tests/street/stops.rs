//! Stops of running turns, from every origin that a person or a program has.

use std::time::{Duration, Instant};

use nightdesk_line::{PostAnswer, PostOutcome};
use nightdesk_register::audit::Kind;
use nightdesk_testdesk::{
    Answered, Household, TestDesk, TestGateway, TestPlatform, post, upgrade_token_at,
};
use nightdesk_types::limits::{STOP_ANSWER_WAIT, STOPS_PER_MINUTE};
use serde_json::{Value, json};

/// A client that answers stops, and the two releases of the stock client.
const SDK: &str = r#"{"type":"hello","platform":"discord","botId":"","client":{"name":"test"}}"#;
const NEW_STOCK: &str = r#"{"type":"hello","platform":"discord","botId":"","command_manifest":[]}"#;
const OLD_STOCK: &str = r#"{"type":"hello","platform":"discord","botId":""}"#;

/// A desk with one household whose bot has a word of its own.
struct Stage {
    desk: TestDesk,
    platform: TestPlatform,
    ann: Household,
}

impl Stage {
    async fn set() -> Self {
        let (desk, platform) = (TestDesk::open().await, TestPlatform::open().await);
        let mut settings = platform.settings();
        settings["stop_word"] = json!("halt");
        let ann = desk.household_with("ann", "gw-1", settings).await;
        Self { desk, platform, ann }
    }

    async fn dial(&self, hello: &str) -> TestGateway {
        let mut gateway = self.desk.dial(&self.ann).await;
        gateway.say(&serde_json::from_str(hello).expect("JSON")).await;
        gateway.hear_frame("descriptor").await;
        gateway
    }

    async fn says(&self, text: &str) {
        assert_eq!(self.desk.says(&self.ann, "ann", text).await, 200);
    }

    /// Waits for the next message to the chat.
    async fn told(&mut self) -> Value {
        loop {
            let call = self.platform.next().await;
            if call["op"] == "send" {
                return call["content"].clone();
            }
        }
    }

    async fn call(&self, by: &Household, path: &str, body: &Value) -> Answered {
        let bearer = format!("Bearer {}", upgrade_token_at(&by.name, &by.secret, 300));
        let headers = [("authorization", bearer.as_str()), ("content-type", "application/json")];
        post(self.desk.address(), path, &headers, body.to_string().as_bytes()).await
    }
}

/// Another agent of the same tenant.
async fn sibling(desk: &TestDesk, of: &Household, name: &str) -> Household {
    let agent = desk.register.store().create_agent(of.scope, name).await.expect("an agent");
    let gateway = format!("gw-{name}");
    let made = desk.register.create_gateway(of.scope, agent, &gateway).await;
    let (id, secret) = made.expect("a gateway");
    Household { agent, gateway: id, name: gateway, secret, ..of.clone() }
}

/// Answers the next stop, and returns its frame.
async fn answer(gateway: &mut TestGateway, stopped: bool) -> Value {
    let stop = gateway.hear_frame("interrupt_inbound").await;
    let stop_id = &stop["stop_id"];
    gateway
        .say(&json!({ "type": "interrupt_result", "stop_id": stop_id, "stopped": stopped }))
        .await;
    stop
}

fn chat() -> Value {
    json!({ "platform": "discord", "chat_id": "c1" })
}

#[tokio::test]
async fn a_person_stops_their_own_turn_and_is_told_the_answer() {
    let mut stage = Stage::set().await;
    let mut gateway = stage.dial(SDK).await;

    for (text, stopped, told) in
        [("/stop", true, "Stopped."), ("HALT", false, "Nothing was running.")]
    {
        stage.says(text).await;
        let stop = answer(&mut gateway, stopped).await;
        assert_eq!(stop["session_key"], "agent:main:discord:dm:c1");
        assert_eq!(stop["chat_id"], "c1");
        assert_eq!(stage.told().await, told);
    }
    stage.says("hello").await;
    let entry = gateway.hear_frame("inbound").await;
    assert_eq!(entry["event"]["text"], "hello", "no stop became an entry");
}

#[tokio::test]
async fn a_client_that_says_nothing_in_time_was_given_the_stop() {
    let mut stage = Stage::set().await;
    let mut gateway = stage.dial(SDK).await;
    let began = Instant::now();

    stage.says("/stop").await;
    gateway.hear_frame("interrupt_inbound").await;
    assert_eq!(stage.told().await, "The stop was delivered to your agent.");
    assert!(began.elapsed() >= STOP_ANSWER_WAIT);
}

#[tokio::test]
async fn a_new_stock_client_gets_every_name_of_the_session_and_no_id() {
    let mut stage = Stage::set().await;
    let mut gateway = stage.dial(NEW_STOCK).await;
    stage.says("/stop").await;

    let stop = gateway.hear_frame("interrupt_inbound").await;
    assert_eq!(stop["session_key"], "agent:main:discord:dm:c1");
    assert!(stop.get("stop_id").is_none(), "{stop}");
    assert_eq!(stage.told().await, "The stop was delivered to your agent.");
}

#[tokio::test]
async fn an_old_stock_client_gets_the_text() {
    let mut stage = Stage::set().await;
    let mut gateway = stage.dial(OLD_STOCK).await;
    stage.says("halt").await;

    assert_eq!(stage.told().await, "The stop was delivered to your agent.");
    let entry = gateway.hear_frame("inbound").await;
    assert_eq!(entry["event"]["text"], "/stop", "the client does not know the bot's word");
    assert_eq!(entry["event"]["source"]["chat_id"], "c1");
}

#[tokio::test]
async fn a_sleeping_agents_messages_are_set_aside_only_if_that_is_asked() {
    let mut stage = Stage::set().await;
    let mut gateway = stage.dial(SDK).await;
    gateway.say(&json!({ "type": "going_idle" })).await;
    gateway.hear_frame("going_idle_ack").await;
    drop(gateway);
    while stage.desk.ears.find_line(stage.ann.agent).is_some() {
        tokio::task::yield_now().await;
    }
    stage.says("one").await;
    stage.says("two").await;
    assert_eq!(stage.desk.says_in("c2", &stage.ann, "ann", "three").await, 200);

    stage.says("/stop").await;
    let no_line = "The stop could not be delivered, because your agent is not connected.";
    assert_eq!(stage.told().await, no_line);
    assert_eq!(stage.desk.entries_of(&stage.ann).await.len(), 3, "nothing was set aside");
    stage.says("/stop all").await;
    let told = stage.told().await;
    assert_eq!(told, format!("{no_line} 2 waiting messages were set aside."));
    let mut gateway = stage.dial(SDK).await;
    assert_eq!(gateway.hear_frame("inbound").await["event"]["text"], "three");
}

#[tokio::test]
async fn a_program_stops_its_own_session_and_the_log_says_so() {
    let stage = Stage::set().await;
    let mut gateway = stage.dial(SDK).await;

    let body = json!({ "platform": "discord", "chat_id": "c1" });
    let calling = stage.call(&stage.ann, "/v1/sessions/stop", &body);
    let (answered, stop) = tokio::join!(calling, answer(&mut gateway, true));
    assert_eq!(stop["session_key"], "agent:main:discord:dm:c1");
    assert_eq!(answered.json(), json!({ "outcome": "stopped", "dropped": 0 }));
    let named = json!({ "session_key": "my own name" });
    let calling = stage.call(&stage.ann, "/v1/sessions/stop", &named);
    let (answered, stop) = tokio::join!(calling, answer(&mut gateway, false));
    assert_eq!(stop["session_key"], "my own name");
    assert_eq!(answered.json()["outcome"], "not-running");
    let store = stage.desk.register.store();
    let log = store.audit_records(stage.ann.scope, 0, 100).await.expect("read the audit log");
    let stops = log.iter().filter(|row| row.kind == Kind::TurnStopped.slug());
    assert_eq!(stops.count(), 2);
}

#[tokio::test]
async fn only_a_permitted_agent_stops_another_one_of_its_tenant() {
    let stage = Stage::set().await;
    let boss = sibling(&stage.desk, &stage.ann, "boss").await;
    let bob = stage.desk.household("bob", "gw-2").await;
    let mut gateway = stage.dial(SDK).await;
    let mut body = chat();
    body["agent"] = json!("ann");

    let refused = stage.call(&boss, "/v1/sessions/stop", &body).await;
    assert_eq!(refused.status, 403, "{}", refused.text);
    let store = stage.desk.register.store();
    assert!(store.let_stop_others(boss.scope, boss.agent, true).await.expect("allow it"));
    assert!(store.let_stop_others(bob.scope, bob.agent, true).await.expect("allow it"));
    let foreign = stage.call(&bob, "/v1/sessions/stop", &body).await;
    assert_eq!(foreign.status, 404, "no agent of another tenant: {}", foreign.text);
    body["agent"] = json!(stage.ann.agent.to_string());
    let foreign = stage.call(&bob, "/v1/sessions/stop", &body).await;
    assert_eq!(foreign.status, 404, "nor by its id: {}", foreign.text);
    let calling = stage.call(&boss, "/v1/sessions/stop", &body);
    let (answered, _) = tokio::join!(calling, answer(&mut gateway, true));
    assert_eq!(answered.json()["outcome"], "stopped");
}

#[tokio::test]
async fn what_names_no_session_is_refused() {
    let stage = Stage::set().await;
    for body in [
        json!({}),
        json!({ "platform": "discord" }),
        json!({ "chat_id": "c1" }),
        json!({ "platform": "discord", "chat_id": "c1", "chat_type": "hall" }),
        json!({ "session_key": "" }),
        json!({ "platform": "discord", "chat_id": "x".repeat(600) }),
    ] {
        let refused = stage.call(&stage.ann, "/v1/sessions/stop", &body).await;
        assert_eq!(refused.status, 400, "{body}");
    }
}

#[tokio::test]
async fn stops_have_a_rate() {
    let stage = Stage::set().await;
    let mut refused = 0;
    for _ in 0..=STOPS_PER_MINUTE {
        let answered = stage.call(&stage.ann, "/v1/sessions/stop", &chat()).await;
        refused += usize::from(answered.status == 429);
    }

    assert!(refused > 0, "each of {STOPS_PER_MINUTE} and one more was taken");
}

#[tokio::test]
async fn an_agent_that_polls_answers_a_stop() {
    let mut stage = Stage::set().await;
    let taken = stage.call(&stage.ann, "/v1/line/take", &json!({ "wait_seconds": 0 })).await;
    let line = taken.json()["line"].clone();
    stage.says("/stop").await;

    let take = json!({ "line": line, "wait_seconds": 10 });
    let taken = stage.call(&stage.ann, "/v1/line/take", &take).await.json();
    let stop = &taken["frames"][0];
    assert_eq!(stop["type"], "interrupt_inbound", "{taken}");
    let report = json!({ "line": taken["line"], "stop_id": stop["stop_id"], "stopped": true });
    let answered = stage.call(&stage.ann, "/v1/line/stopped", &report).await;
    assert_eq!(answered.status, 204, "{}", answered.text);
    assert_eq!(stage.told().await, "Stopped.");
    let odd = json!({ "line": taken["line"], "stop_id": "no id", "stopped": true });
    assert_eq!(stage.call(&stage.ann, "/v1/line/stopped", &odd).await.status, 400);
}

#[tokio::test]
async fn an_agent_with_a_webhook_gets_the_stop_beside_its_turn() {
    let mut stage = Stage::set().await;
    stage.desk.is_posted_at(&stage.ann, "https://agents.example/ann").await;
    stage.says("/stop").await;
    assert_eq!(stage.told().await, "Nothing was running.", "it has no line, so no turn");

    stage.desk.posts.answer(|post| {
        let frame: Value = serde_json::from_str(&post.body).expect("a frame is JSON");
        if frame["type"] == "inbound" {
            return PostOutcome::Later;
        }
        assert_eq!(post.id, format!("stop_{}", frame["stop_id"].as_str().expect("an id")));
        PostOutcome::Handled(PostAnswer { stopped: Some(true), ..PostAnswer::default() })
    });
    stage.says("hello").await;
    let give_up = Instant::now() + Duration::from_secs(10);
    while stage.desk.posts.ids().is_empty() {
        assert!(Instant::now() < give_up, "the entry is posted");
        tokio::task::yield_now().await;
    }
    stage.says("halt").await;
    assert_eq!(stage.told().await, "Stopped.");
}

#[tokio::test]
async fn the_button_under_an_unfinished_answer_stops_its_agent() {
    let mut stage = Stage::set().await;
    let mut gateway = stage.dial(SDK).await;
    stage.says("hello").await;
    let entry = gateway.hear_frame("inbound").await;
    gateway.ack(&entry["bufferId"]).await;
    let action = json!({
        "op": "send", "chat_id": "c1", "content": "so far", "metadata": { "running": true },
    });
    gateway.say(&json!({ "type": "outbound", "requestId": "r1", "action": action })).await;
    gateway.hear_frame("outbound_result").await;

    let shown = stage.platform.next().await;
    let prompt = shown["metadata"]["stop_button"].as_str().expect("a button").to_owned();
    let press = json!({ "prompt_id": prompt, "option_id": "stop" });
    let event = json!({
        "text": "Stop", "prompt_response": press, "source": { "chat_id": "c1", "user_id": "ann" },
    });
    let status = stage.desk.hook(&stage.ann, &json!({ "id": "press", "event": event })).await;
    assert_eq!(status, 200);
    answer(&mut gateway, true).await;
    assert_eq!(stage.told().await, "Stopped.");
}

#[tokio::test]
async fn the_sender_of_a_letter_stops_the_turn_on_it_and_no_other_agent_does() {
    let stage = Stage::set().await;
    let bob = sibling(&stage.desk, &stage.ann, "bob").await;
    let mut gateway = stage.dial(SDK).await;
    let body = json!({ "op": "deliver", "agent": "ann", "message": "work" });
    let sent = stage.call(&bob, "/v1/letters", &body).await;
    assert_eq!(sent.status, 200, "{}", sent.text);
    let entry = gateway.hear_frame("inbound").await;
    let letter = entry["event"]["letter"]["letter_id"].as_str().expect("a letter").to_owned();
    let path = format!("/v1/letters/{letter}/stop");

    let foreign = stage.call(&stage.ann, &path, &json!({})).await;
    assert_eq!(foreign.status, 404, "the recipient is not the sender: {}", foreign.text);
    let nothing = json!({});
    let stopping = stage.call(&bob, &path, &nothing);
    let (answered, stop) = tokio::join!(stopping, answer(&mut gateway, true));
    assert_eq!(answered.json()["outcome"], "stopped");
    assert_eq!(stop["session_key"], format!("agent:main:relay:dm:letter:{letter}"));

    let wake = json!({ "op": "wake", "agent": "ann", "message": "better", "interrupt": true });
    let waking = stage.call(&bob, "/v1/letters", &wake);
    let (woken, stop) = tokio::join!(waking, answer(&mut gateway, true));
    assert_eq!(stop["chat_id"], format!("letter:{letter}"), "the turn on the letter before");
    assert_eq!(woken.status, 200, "{}", woken.text);
    assert_eq!(gateway.hear_frame("inbound").await["event"]["text"], "better");
}
