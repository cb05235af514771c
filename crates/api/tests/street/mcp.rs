//! The desk's tools, called by MCP.

use nightdesk_bus::{Bell as _, Ring};
use nightdesk_testdesk::{Household, TestDesk, post, upgrade_token_at};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

struct Street {
    desk: TestDesk,
    ann: Household,
}

impl Street {
    async fn open() -> Self {
        let desk = TestDesk::open().await;
        let ann = desk.household("ann", "gw-ann").await;
        Self { desk, ann }
    }

    /// Calls a tool with this id. Returns the last message of the response.
    async fn call(&self, by: &Household, id: u32, tool: &str, with: Value) -> Value {
        let call = json!({
            "jsonrpc": "2.0", "id": id, "method": "tools/call",
            "params": { "name": tool, "arguments": with },
        });
        let bearer = format!("Bearer {}", upgrade_token_at(&by.name, &by.secret, 300));
        let headers = [
            ("authorization", bearer.as_str()),
            ("content-type", "application/json"),
            ("accept", "application/json, text/event-stream"),
        ];
        let body = call.to_string();
        let answer = post(self.desk.address(), "/mcp", &headers, body.as_bytes()).await;
        assert_eq!(answer.status, 200, "{}", answer.text);
        let said = answer.text.lines().filter_map(|line| line.strip_prefix("data: ")).next_back();
        serde_json::from_str(said.expect("an event")).expect("JSON")
    }

    /// The result of a tool.
    async fn gives(&self, id: u32, tool: &str, with: Value) -> Value {
        let said = self.call(&self.ann, id, tool, with).await;
        assert!(said.get("error").is_none(), "{said}");
        said["result"]["structuredContent"].clone()
    }

    async fn waiting(&self) -> i64 {
        self.desk.head_of(&self.ann).await.get()
    }
}

#[tokio::test]
async fn a_call_that_is_repeated_sends_one_letter() {
    let street = Street::open().await;
    let with = json!({ "agent": "ann", "message": "note to self" });
    let first = street.gives(1, "notify", with.clone()).await;
    assert_eq!(first["dispatched"][0]["ok"], true, "{first}");
    assert_eq!(street.gives(1, "notify", with.clone()).await["dispatch_id"], first["dispatch_id"]);
    assert_eq!(street.waiting().await, 1, "the same call is the same letter");

    street.gives(2, "notify", with.clone()).await;
    assert_eq!(street.waiting().await, 2, "another call is another");
    let known = json!({ "agent": "ann", "message": "again", "dispatch_id": "d1" });
    street.gives(3, "notify", known.clone()).await;
    street.gives(4, "notify", known).await;
    assert_eq!(street.waiting().await, 3, "the id that it gives counts more");
}

#[tokio::test]
async fn what_is_shared_is_written_once_and_read_by_its_own_tenant() {
    let street = Street::open().await;
    let write = json!({ "name": "brief", "source": "# Skill: brief\n# Status: Draft\n" });
    let written = street.gives(1, "skill_write", write.clone()).await;
    assert_eq!(street.gives(2, "skill_write", write).await, written);
    let read = street.gives(3, "skill_read", json!({ "name": "brief" })).await;
    assert_eq!(read["version"], written["version"]);
    let entry = street.gives(4, "data_write", json!({ "content": "the sky is blue" })).await;
    assert_eq!(street.gives(5, "data_write", json!({ "content": "the sky is blue" })).await, entry);
    let found = street.gives(6, "data_query", json!({ "query": "sky" })).await;
    assert_eq!(found["items"].as_array().map(Vec::len), Some(1), "{found}");

    let bob = street.desk.household("bob", "gw-bob").await;
    let theirs = street.call(&bob, 7, "skill_read", json!({ "name": "brief" })).await;
    assert_eq!(theirs["error"]["code"], -32602, "{theirs}");
    let none = street.call(&bob, 8, "data_read", json!({ "id": entry["id"] })).await;
    assert_eq!(none["result"]["structuredContent"], Value::Null, "{none}");
}

#[tokio::test]
async fn what_cannot_be_done_is_an_error_that_says_why() {
    let street = Street::open().await;
    let cases = [
        ("notify", json!({ "agent": "nobody", "message": "x" }), "no such agent"),
        ("notify", json!({ "message": "x" }), "agent"),
        ("skill_status", json!({ "name": "none", "new_state": "Approved" }), "none"),
        ("data_query", json!({ "query": "x", "tenant": "other" }), "tenant"),
    ];
    for (tool, with, words) in cases {
        let said = street.call(&street.ann, 1, tool, with).await;
        let message = said["error"]["message"].as_str().expect("an error");
        assert!(message.contains(words), "{tool}: {message}");
    }
}

#[tokio::test]
async fn a_line_ends_with_the_gateway_whose_token_opened_it() {
    let street = Street::open().await;
    let opened = street.gives(1, "inbox_take", json!({ "wait_seconds": 0 })).await;
    let again = json!({ "line": opened["line"], "wait_seconds": 20 });

    let revoked = Ring::Revoked { gateway: street.ann.gateway };
    let (taken, is_its_own) = tokio::join!(
        street.call(&street.ann, 2, "inbox_take", again),
        street.desk.ears.ring(revoked)
    );
    assert!(is_its_own, "the line is that of the token's gateway");
    assert!(taken.get("error").is_some(), "{taken}");
}

/// A request without a credential is refused before its body is read, so no other request can follow on the connection.
#[tokio::test]
async fn who_is_refused_unread_is_told_that_the_desk_hangs_up() {
    let desk = TestDesk::open().await;
    let mut stream = TcpStream::connect(desk.address()).await.expect("the desk is there");
    let head = "POST /mcp HTTP/1.1\r\nhost: desk\r\ncontent-length: 2\r\n\r\n";
    stream.write_all(head.as_bytes()).await.expect("it is heard");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.expect("it answers and hangs up");
    assert!(answer.starts_with("HTTP/1.1 401 "), "{answer}");
    assert!(answer.contains("\r\nconnection: close\r\n"), "{answer}");
}
