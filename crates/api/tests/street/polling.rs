//! A line over HTTP requests.

use std::time::{Duration, Instant};

use nightdesk_testdesk::{Answered, Household, TestDesk, TestPlatform, post, upgrade_token_at};
use nightdesk_types::limits::IDLE_GRACE;
use serde_json::{Value, json};

/// An agent that polls.
struct Poller<'a> {
    desk: &'a TestDesk,
    bearer: String,
    line: Option<String>,
}

impl<'a> Poller<'a> {
    fn of(desk: &'a TestDesk, household: &Household) -> Self {
        let token = upgrade_token_at(&household.name, &household.secret, 300);
        Self { desk, bearer: format!("Bearer {token}"), line: None }
    }

    async fn post(&self, path: &str, body: &Value) -> Answered {
        let headers = [("authorization", self.bearer.as_str())];
        post(self.desk.address(), path, &headers, body.to_string().as_bytes()).await
    }

    async fn try_take(&mut self, wait_seconds: u64) -> Answered {
        let body = json!({ "line": self.line, "wait_seconds": wait_seconds });
        let answered = self.post("/v1/line/take", &body).await;
        if let Some(line) = answered.json()["line"].as_str() {
            self.line = Some(line.to_owned());
        }
        answered
    }

    /// Takes frames, for which it waits at most a second.
    async fn take(&mut self) -> Vec<Value> {
        let answered = self.try_take(1).await;
        assert_eq!(answered.status, 200, "{}", answered.text);
        answered.json()["frames"].as_array().cloned().expect("frames")
    }

    async fn ack(&self, frame: &Value) -> u16 {
        let body = json!({ "line": self.line, "buffer_ids": [frame["bufferId"]] });
        self.post("/v1/line/ack", &body).await.status
    }
}

/// The texts of entries.
fn texts(frames: &[Value]) -> Vec<&str> {
    frames.iter().filter_map(|frame| frame["event"]["text"].as_str()).collect()
}

async fn open() -> (TestDesk, Household) {
    let desk = TestDesk::open().await;
    let ann = desk.household("ann", "gw-1").await;
    (desk, ann)
}

/// Waits until the desk stored acks up to this number.
async fn wait_for_ack(desk: &TestDesk, household: &Household, seq: i64) {
    let give_up = Instant::now() + Duration::from_secs(10);
    while desk.acked(household).await < seq {
        assert!(Instant::now() < give_up, "entry {seq} is not acknowledged");
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn an_entry_is_taken_acked_and_does_not_come_again() {
    let (desk, ann) = open().await;
    assert_eq!(desk.says(&ann, "ann", "k1").await, 200);
    let mut agent = Poller::of(&desk, &ann);

    let first = agent.take().await;
    assert_eq!(texts(&first), ["k1"]);
    assert_eq!(agent.ack(&first[0]).await, 204);
    wait_for_ack(&desk, &ann, 1).await;
    assert_eq!(desk.says(&ann, "ann", "k2").await, 200);
    assert_eq!(texts(&agent.take().await), ["k2"]);
}

#[tokio::test]
async fn a_take_waits_for_the_next_entry() {
    let (desk, ann) = open().await;
    let mut agent = Poller::of(&desk, &ann);
    assert_eq!(agent.take().await, [Value::Null; 0], "nothing waits");

    let (answered, status) = tokio::join!(agent.try_take(50), desk.says(&ann, "ann", "k1"));
    assert_eq!(status, 200);
    assert_eq!(texts(answered.json()["frames"].as_array().expect("frames")), ["k1"]);
}

#[tokio::test]
async fn a_lost_response_is_repeated_and_a_received_one_is_not() {
    let (desk, ann) = open().await;
    let mut agent = Poller::of(&desk, &ann);
    agent.take().await;
    let before = agent.line.clone();
    assert_eq!(desk.says(&ann, "ann", "k1").await, 200);

    let first = agent.take().await;
    assert_eq!(texts(&first), ["k1"]);
    let after = std::mem::replace(&mut agent.line, before);
    assert_eq!(agent.take().await, first, "the agent names the position before the response");
    agent.line = after;
    assert_eq!(agent.take().await, [Value::Null; 0], "and now the one after it");
}

#[tokio::test]
async fn at_most_a_window_of_entries_is_unacknowledged() {
    let (desk, ann) = open().await;
    for number in 0..20 {
        assert_eq!(desk.says(&ann, "ann", &format!("k{number}")).await, 200);
    }
    let mut agent = Poller::of(&desk, &ann);

    let mut taken = agent.take().await;
    while taken.len() < 12 {
        let more = agent.take().await;
        assert!(!more.is_empty(), "the window is not full: {}", taken.len());
        taken.extend(more);
    }
    assert_eq!(agent.take().await, [Value::Null; 0], "the window is full");
    assert_eq!(agent.ack(&taken[0]).await, 204);
    assert_eq!(texts(&agent.take().await), ["k12"]);
}

#[tokio::test]
async fn a_newer_line_of_any_transport_takes_over() {
    let (desk, ann) = open().await;
    assert_eq!(desk.says(&ann, "ann", "k1").await, 200);
    let mut polling = Poller::of(&desk, &ann);
    let held = polling.take().await;

    let mut gateway = desk.dial(&ann).await;
    gateway.hello("discord").await;
    gateway.hear_frame("descriptor").await;
    assert_eq!(gateway.hear_frame("inbound").await["bufferId"], held[0]["bufferId"]);
    let gone = polling.try_take(0).await;
    assert_eq!((gone.status, &gone.json()["code"]), (410, &json!("line-gone")), "{}", gone.text);
    assert_eq!(polling.ack(&held[0]).await, 410, "it is another line's entry now");

    let mut newest = Poller::of(&desk, &ann);
    assert_eq!(texts(&newest.take().await), ["k1"]);
    assert_eq!(gateway.hear().await, nightdesk_testdesk::Heard::Closed(4409));
}

#[tokio::test]
async fn an_action_is_performed_once_and_its_result_is_the_response() {
    let (desk, platform) = (TestDesk::open().await, TestPlatform::open().await);
    let ann = desk.household_with("ann", "gw-1", platform.settings()).await;
    assert_eq!(desk.says(&ann, "ann", "k1").await, 200);
    let mut agent = Poller::of(&desk, &ann);
    agent.take().await;
    desk.settled().await;
    let shown = platform.calls().len();

    let request = json!({
        "line": agent.line, "request_id": "r1",
        "action": { "op": "send", "chat_id": "c1", "content": "hello" },
    });
    for _ in 0..2 {
        let sent = agent.post("/v1/line/send", &request).await;
        assert_eq!((sent.status, &sent.json()["success"]), (200, &json!(true)), "{}", sent.text);
    }
    let calls = platform.calls().split_off(shown);
    assert_eq!(calls.len(), 1, "a repeat has no effect: {calls:?}");
    assert_eq!(calls[0]["content"], "hello");

    let elsewhere = |id: &str| {
        json!({
            "line": agent.line, "request_id": id,
            "action": { "op": "send", "chat_id": "c9", "content": "hello" },
        })
    };
    let refused = agent.post("/v1/line/send", &elsewhere("r2")).await;
    assert_eq!(refused.json()["code"], "egress_declined", "{}", refused.text);
    let repeated = agent.post("/v1/line/send", &elsewhere("r1")).await;
    assert_eq!(repeated.json()["success"], true, "r1 was executed: {}", repeated.text);
}

#[tokio::test]
async fn a_repeat_is_not_told_to_have_failed_while_the_store_is_unavailable() {
    let (desk, platform) = (TestDesk::open().await, TestPlatform::open().await);
    let ann = desk.household_with("ann", "gw-1", platform.settings()).await;
    assert_eq!(desk.says(&ann, "ann", "k1").await, 200);
    let mut agent = Poller::of(&desk, &ann);
    agent.take().await;
    desk.settled().await;
    let request = json!({
        "line": agent.line, "request_id": "r1",
        "action": { "op": "send", "chat_id": "c1", "content": "hello" },
    });
    let sent = agent.post("/v1/line/send", &request).await;
    assert_eq!(sent.json()["success"], true, "{}", sent.text);

    desk.store.fail_sends(true);
    let unclear = agent.post("/v1/line/send", &request).await;
    assert_eq!((unclear.status, &unclear.json()["code"]), (503, &json!("unavailable")));
    desk.store.fail_sends(false);
    let repeated = agent.post("/v1/line/send", &request).await;
    assert_eq!(repeated.json(), sent.json());
}

#[tokio::test]
async fn an_agent_that_goes_idle_is_called_for_the_next_entry() {
    let (desk, ann) = open().await;
    desk.is_called_at(&ann, &["https://agents.example/wake"]).await;
    let mut agent = Poller::of(&desk, &ann);
    agent.take().await;
    assert_eq!(desk.says(&ann, "ann", "k1").await, 200);
    let taken = agent.take().await;
    agent.ack(&taken[0]).await;
    wait_for_ack(&desk, &ann, 1).await;
    desk.settled().await;
    assert_eq!(desk.calls.urls().len(), 0, "it is present");

    let idle = agent.post("/v1/line/idle", &json!({ "line": agent.line })).await;
    assert_eq!(idle.status, 204, "{}", idle.text);
    while desk.ears.find_line(ann.agent).is_some() {
        tokio::task::yield_now().await;
    }
    assert_eq!(desk.says(&ann, "ann", "k2").await, 200);
    desk.wakes_after(IDLE_GRACE).await;
    assert_eq!(desk.calls.urls().len(), 1);
}

#[tokio::test]
async fn a_line_belongs_to_its_agent() {
    let (desk, ann) = open().await;
    let bob = desk.household("bob", "gw-2").await;
    assert_eq!(desk.says(&ann, "ann", "k1").await, 200);
    let mut hers = Poller::of(&desk, &ann);
    let taken = hers.take().await;

    let mut his = Poller::of(&desk, &bob);
    his.line.clone_from(&hers.line);
    assert_eq!(his.try_take(0).await.status, 410);
    his.line.clone_from(&hers.line);
    assert_eq!(his.ack(&taken[0]).await, 410);
    let idle = his.post("/v1/line/idle", &json!({ "line": hers.line })).await;
    assert_eq!(idle.status, 410);
    assert_eq!(hers.ack(&taken[0]).await, 204, "her line is still open");
}

#[tokio::test]
async fn a_malformed_request_is_refused() {
    let (desk, ann) = open().await;
    let agent = Poller::of(&desk, &ann);
    let bad = [
        ("/v1/line/take", json!({ "line": "not a line" })),
        ("/v1/line/take", json!({ "wait_seconds": -1 })),
        ("/v1/line/take", json!({ "hellos": vec![json!({ "platform": "discord" }); 17] })),
        ("/v1/line/ack", json!({ "line": "x", "buffer_ids": [] })),
        ("/v1/line/ack", json!({ "buffer_ids": vec!["x"; 65] })),
        ("/v1/line/send", json!({ "line": "x" })),
        ("/v1/line/idle", json!({})),
    ];
    for (path, body) in bad {
        let refused = agent.post(path, &body).await;
        assert!([400, 410].contains(&refused.status), "{path} {body}: {}", refused.text);
    }
}

#[tokio::test]
async fn a_polling_agent_names_its_live_sessions() {
    let (desk, ann) = open().await;
    let mut agent = Poller::of(&desk, &ann);
    agent.take().await;
    let name = async |sessions: Value| {
        agent.post("/v1/line/sessions", &json!({ "line": agent.line, "sessions": sessions })).await
    };

    assert_eq!(name(json!(["kitchen"])).await.status, 204);
    for unusable in [json!([""]), json!(["a\u{0}"]), json!(["x".repeat(129)]), json!(vec!["x"; 65])]
    {
        assert_eq!(name(unusable.clone()).await.status, 400, "{unusable}");
    }
    let give_up = Instant::now() + Duration::from_secs(10);
    let party = nightdesk_letters::Party { scope: ann.scope, agent: ann.agent };
    loop {
        let letters = &desk.desk.stops.letters.store;
        let live = letters.find_line(party).await.expect("find the line").expect("it is up");
        if live.has_session("kitchen") {
            break;
        }
        assert!(Instant::now() < give_up, "the session is not stored");
        tokio::task::yield_now().await;
    }
    let gone = json!({ "line": "L0", "sessions": [] });
    assert_eq!(agent.post("/v1/line/sessions", &gone).await.status, 400, "no name of a line");
}
