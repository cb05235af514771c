//! Lines without a WebSocket: the lines, entries, requests and chats of another tenant, and the limits of a line.

use std::num::NonZeroU32;
use std::time::{Duration, Instant};

use nightdesk_desk::{Adapters, RateSettings};
use nightdesk_line::{PostAnswer, PostOutcome};
use nightdesk_testdesk::{Answered, Household, TestDesk, TestPlatform, post, upgrade_token_at};
use nightdesk_types::limits::{ACKS_PER_REQUEST_MAX, TRIES_MAX, WINDOW_ENTRIES_MAX};
use serde_json::{Map, Value, json};

use super::{ANNS_EVENT, end};
use crate::cases::Cases;

/// A chat in which ann writes, and bob does not.
const ANNS_CHAT: &str = "anns-chat";

/// A text that no platform may get.
const PRIED: &str = "pried";

/// The ways to call a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Calls {
    Routes,
    Tools,
}

const BOTH: [Calls; 2] = [Calls::Routes, Calls::Tools];

/// An agent that calls its line.
struct Caller<'a> {
    desk: &'a TestDesk,
    bearer: String,
    calls: Calls,
    line: Value,
}

impl<'a> Caller<'a> {
    fn of(desk: &'a TestDesk, household: &Household, calls: Calls) -> Self {
        let token = upgrade_token_at(&household.name, &household.secret, 300);
        Self { desk, bearer: format!("Bearer {token}"), calls, line: Value::Null }
    }

    /// Makes a call. The error is the text of the refusal.
    async fn call(&self, what: &str, with: &Value) -> Result<Value, String> {
        match self.calls {
            Calls::Routes => {
                let answer = self.post(&format!("/v1/line/{what}"), with).await;
                let is_done = (200..300).contains(&answer.status);
                if is_done { Ok(answer.json()) } else { Err(answer.text) }
            }
            Calls::Tools => {
                let tool = if what == "send" { "send" } else { &*format!("inbox_{what}") };
                let params = json!({ "name": tool, "arguments": with });
                let call =
                    json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
                let answer = self.post("/mcp", &call).await;
                let mut events = answer.text.lines().filter_map(|line| line.strip_prefix("data: "));
                let said = events.next_back().and_then(|last| serde_json::from_str(last).ok());
                let said: Value = said.unwrap_or_else(|| json!({ "error": answer.text }));
                let is_done = said.get("error").is_none();
                let result = || said["result"]["structuredContent"].clone();
                if is_done { Ok(result()) } else { Err(said.to_string()) }
            }
        }
    }

    async fn post(&self, path: &str, body: &Value) -> Answered {
        let headers = [
            ("authorization", self.bearer.as_str()),
            ("content-type", "application/json"),
            ("accept", "application/json, text/event-stream"),
        ];
        post(self.desk.address(), path, &headers, body.to_string().as_bytes()).await
    }

    /// Takes frames, for which it waits at most a second. Without a line, it opens one.
    async fn take(&mut self) -> Vec<Value> {
        let mut with = json!({ "wait_seconds": 1 });
        if !self.line.is_null() {
            with["line"] = self.line.clone();
        }
        let taken = self.call("take", &with).await.expect("frames");
        self.line = taken["line"].clone();
        taken["frames"].as_array().cloned().expect("frames")
    }

    async fn ack(&self, id: &Value) -> Result<Value, String> {
        self.call("ack", &json!({ "line": self.line, "buffer_ids": [id] })).await
    }

    async fn send(&self, request: &str, chat: &str, text: &str) -> Result<Value, String> {
        let action = json!({ "op": "send", "chat_id": chat, "content": text });
        let with = json!({ "line": self.line, "request_id": request, "action": action });
        self.call("send", &with).await
    }
}

/// Waits until a condition holds.
async fn wait_until(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let give_up = Instant::now() + Duration::from_secs(20);
    while !holds().await {
        assert!(Instant::now() < give_up, "{what}");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

/// A desk with two tenants whose bots call one platform. Ann wrote in a chat of her own, and each in a common one.
async fn street() -> (TestDesk, TestPlatform, Household, Household) {
    let (desk, platform) = (TestDesk::open().await, TestPlatform::open().await);
    let ann = desk.household_with("ann", "gw", platform.settings()).await;
    let bob = desk.household_with("bob", "gw", platform.settings()).await;
    assert_eq!(desk.says_in(ANNS_CHAT, &ann, "ann", ANNS_EVENT).await, 200);
    assert_eq!(desk.says(&bob, "bob", "b1").await, 200);
    (desk, platform, ann, bob)
}

/// The texts that the platform got in sends.
fn said(platform: &TestPlatform) -> Vec<Value> {
    let sends = platform.calls().into_iter().filter(|call| call["op"] == "send");
    sends.map(|call| call["content"].clone()).collect()
}

#[tokio::test]
async fn a_foreign_line_and_its_entries_are_out_of_reach() {
    let mut cases = Cases::default();
    for calls in BOTH {
        let (desk, _platform, ann, bob) = street().await;
        let (mut hers, mut his) = (Caller::of(&desk, &ann, calls), Caller::of(&desk, &bob, calls));
        let (taken, own) = (hers.take().await, his.take().await);
        let id = &taken[0]["bufferId"];
        for (what, with) in [
            ("take", json!({ "line": hers.line, "wait_seconds": 0 })),
            ("ack", json!({ "line": hers.line, "buffer_ids": [id] })),
            (
                "send",
                json!({
                    "line": hers.line, "request_id": "r1",
                    "action": { "op": "send", "chat_id": ANNS_CHAT, "content": PRIED },
                }),
            ),
        ] {
            let refused = his.call(what, &with).await;
            let is_right = refused.as_ref().is_err_and(|text| !text.contains(ANNS_EVENT));
            cases.note(is_right, format!("{calls:?} {what}: {refused:?}"));
        }

        // The acks of a line are taken in order, so his own one shows that the foreign one was read.
        his.ack(id).await.expect("any id may be named");
        his.ack(&own[0]["bufferId"]).await.expect("it is his");
        wait_until("his entry is acknowledged", async || desk.acked(&bob).await == 1).await;
        cases.note(desk.acked(&ann).await == 0, format!("{calls:?}: he acknowledged hers"));
        hers.ack(id).await.expect("her line is open");
        wait_until("her entry is acknowledged", async || desk.acked(&ann).await == 1).await;
    }
    end(cases);
}

#[tokio::test]
async fn an_ack_without_a_line_counts_for_its_own_agent() {
    let mut cases = Cases::default();
    let (desk, _platform, ann, bob) = street().await;
    desk.posts.answer(|_| PostOutcome::Later);
    for household in [&ann, &bob] {
        desk.is_posted_at(household, "https://agents.example/hook").await;
    }
    desk.wakes_after(Duration::from_mins(1)).await;
    wait_until("both were posted", async || desk.posts.ids().len() == 2).await;
    let (ids, his) = (desk.posts.ids(), Caller::of(&desk, &bob, Calls::Routes));

    his.call("ack", &json!({ "buffer_ids": ids })).await.expect("any id may be named");
    wait_until("his entry is acknowledged", async || desk.acked(&bob).await == 1).await;
    cases.note(desk.acked(&ann).await == 0, "he acknowledged hers".to_owned());
    end(cases);
}

#[tokio::test]
async fn a_request_id_is_its_agents_own() {
    let mut cases = Cases::default();
    for calls in BOTH {
        let (desk, platform, ann, bob) = street().await;
        let (mut hers, mut his) = (Caller::of(&desk, &ann, calls), Caller::of(&desk, &bob, calls));
        hers.take().await;
        his.take().await;
        let first = hers.send("r1", ANNS_CHAT, "hers").await.expect("it is sent");
        let second = his.send("r1", "c1", "his").await.expect("it is sent");

        let is_right = second["success"] == true && second["message_id"] != first["message_id"];
        cases.note(is_right, format!("{calls:?}: {first} and {second}"));
        let texts = said(&platform);
        let were_sent = ["hers", "his"].iter().all(|text| texts.contains(&json!(text)));
        cases.note(were_sent, format!("{calls:?}: {texts:?}"));
    }
    end(cases);
}

#[tokio::test]
async fn no_transport_reaches_a_foreign_chat() {
    let mut cases = Cases::default();
    for calls in BOTH {
        let (desk, platform, _ann, bob) = street().await;
        let mut his = Caller::of(&desk, &bob, calls);
        his.take().await;
        let refused = his.send("r1", ANNS_CHAT, PRIED).await.expect("a result");
        let is_right =
            refused["code"] == "egress_declined" && !said(&platform).contains(&json!(PRIED));
        cases.note(is_right, format!("{calls:?}: {refused}"));
    }
    let (desk, platform, _ann, bob) = street().await;
    let action = json!({ "op": "send", "chat_id": ANNS_CHAT, "content": PRIED });
    let action: Map<String, Value> = serde_json::from_value(action).expect("an action");
    desk.posts.answer(move |_| {
        PostOutcome::Handled(PostAnswer { actions: vec![action.clone()], ..PostAnswer::default() })
    });
    desk.is_posted_at(&bob, "https://agents.example/bob").await;
    desk.wakes_after(Duration::from_mins(1)).await;
    wait_until("the post is answered", async || desk.acked(&bob).await == 1).await;
    cases.note(!said(&platform).contains(&json!(PRIED)), "a post's answer".to_owned());
    end(cases);
}

#[tokio::test]
async fn each_transport_holds_a_window_and_no_more() {
    for calls in BOTH {
        let (desk, _platform, _ann, bob) = street().await;
        for number in 2..=20 {
            assert_eq!(desk.says(&bob, "bob", &format!("b{number}")).await, 200);
        }
        let mut his = Caller::of(&desk, &bob, calls);
        let mut taken = his.take().await;
        while taken.len() < WINDOW_ENTRIES_MAX {
            let more = his.take().await;
            assert!(!more.is_empty(), "{calls:?}: the window is not full: {}", taken.len());
            taken.extend(more);
        }
        assert_eq!(taken.len(), WINDOW_ENTRIES_MAX, "{calls:?}");
        assert_eq!(his.take().await, [Value::Null; 0], "{calls:?}: the window is full");

        let ids: Vec<Value> = vec![json!("x"); ACKS_PER_REQUEST_MAX + 1];
        let many = json!({ "line": his.line, "buffer_ids": ids });
        assert!(his.call("ack", &many).await.is_err(), "{calls:?}: too many ids");
    }
}

#[tokio::test]
async fn posts_are_a_window_and_no_more() {
    let (desk, _platform, _ann, bob) = street().await;
    for number in 2..=20 {
        let chat = format!("c{number}");
        assert_eq!(desk.says_in(&chat, &bob, "bob", &format!("b{number}")).await, 200);
    }
    desk.posts.answer(|_| PostOutcome::Later);
    desk.is_posted_at(&bob, "https://agents.example/bob").await;
    desk.wakes_after(Duration::from_mins(1)).await;
    let count = async || desk.posts.ids().len();
    wait_until("a window is posted", async || count().await >= WINDOW_ENTRIES_MAX).await;

    let his = Caller::of(&desk, &bob, Calls::Routes);
    let first = json!({ "buffer_ids": [desk.posts.ids()[0]] });
    assert_eq!(count().await, WINDOW_ENTRIES_MAX);
    his.call("ack", &first).await.expect("it is his");
    wait_until("one more is posted", async || count().await > WINDOW_ENTRIES_MAX).await;
    assert_eq!(count().await, WINDOW_ENTRIES_MAX + 1);
}

#[tokio::test]
async fn an_entry_on_three_lines_in_vain_is_parked() {
    for calls in BOTH {
        let (desk, _platform, _ann, bob) = street().await;
        for _ in 0..TRIES_MAX {
            let mut his = Caller::of(&desk, &bob, calls);
            assert_eq!(his.take().await.len(), 1, "{calls:?}: it comes again");
        }

        let mut his = Caller::of(&desk, &bob, calls);
        assert_eq!(his.take().await, [Value::Null; 0], "{calls:?}: it was parked");
        assert_eq!(desk.says(&bob, "bob", "b2").await, 200);
        assert_eq!(his.take().await.len(), 1, "{calls:?}: the next one passes");
    }
}

#[tokio::test]
async fn requests_have_a_rate() {
    let rates = RateSettings { frames_per_second: NonZeroU32::MIN, ..RateSettings::default() };
    let desk = TestDesk::open_limited(Adapters::new(), rates).await;
    let bob = desk.household("bob", "gw").await;
    let his = Caller::of(&desk, &bob, Calls::Routes);

    let mut refused = 0;
    for _ in 0..20 {
        let answer = his.post("/v1/line/ack", &json!({ "buffer_ids": [] })).await;
        refused += usize::from(answer.status == 429);
    }
    assert!(refused > 0, "twenty requests at once are more than one a second");
}
