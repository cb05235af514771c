//! Calls as clients make them, over HTTP and without a session.
#![expect(clippy::expect_used, reason = "a test that cannot set up should stop")]

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use bytes::Bytes;
use http::{Request, StatusCode};
use http_body_util::{BodyExt, Full};
use nightdesk_mcp::{Server, Tool, ToolCall, ToolError, Tools};
use nightdesk_types::limits::MCP_BYTES_MAX;
use serde_json::{Value, json};

/// Answers every call with its content, and fails calls that request it.
#[derive(Default)]
struct Echo(Mutex<Vec<(&'static str, Tool, ToolCall)>>);

#[async_trait]
impl Tools for Echo {
    type Caller = &'static str;

    async fn call(
        &self,
        caller: &Self::Caller,
        tool: Tool,
        call: ToolCall,
    ) -> Result<Value, ToolError> {
        let said = json!({ "by": caller, "tool": tool.slug(), "with": call.arguments });
        let wish = call.arguments.get("message").and_then(Value::as_str).map(str::to_owned);
        self.0.lock().expect("nobody panicked").push((caller, tool, call));
        match wish.as_deref() {
            Some("refuse") => Err(ToolError::Refused("say something else".to_owned())),
            Some("break") => Err(ToolError::Unavailable("ask again".to_owned())),
            _ => Ok(said),
        }
    }
}

/// Sends a request, and returns the status and all events.
async fn asked(tools: &Arc<Echo>, body: Vec<u8>) -> (StatusCode, Vec<Value>) {
    let request = Request::post("http://desk.example/mcp")
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .body(Full::new(Bytes::from(body)))
        .expect("a request");
    let answer = Server::new(Arc::clone(tools)).respond("ann", request).await;
    let status = answer.status();
    let body = answer.into_body().collect().await.expect("a body").to_bytes();
    let text = String::from_utf8(body.to_vec()).expect("text");
    let events = text.lines().filter_map(|line| line.strip_prefix("data: "));
    (status, events.map(|event| serde_json::from_str(event).expect("JSON")).collect())
}

async fn called(tools: &Arc<Echo>, tool: &str, arguments: Value) -> Value {
    let call = json!({
        "jsonrpc": "2.0", "id": 7, "method": "tools/call",
        "params": { "name": tool, "arguments": arguments },
    });
    let (status, events) = asked(tools, call.to_string().into_bytes()).await;
    assert_eq!(status, StatusCode::OK);
    let last = events.last().expect("an event").clone();
    assert_eq!(last["id"], 7, "the answer comes last: {events:?}");
    last
}

#[tokio::test]
async fn every_tool_is_listed_and_says_what_it_wants() {
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    let (_, events) = asked(&Arc::default(), list.to_string().into_bytes()).await;
    let tools = events.last().expect("an event")["result"]["tools"].clone();
    let tools = tools.as_array().expect("tools");
    let names: Vec<&str> = tools.iter().filter_map(|tool| tool["name"].as_str()).collect();

    assert_eq!(names, Tool::ALL.map(Tool::slug));
    assert!(tools.iter().all(|tool| tool["inputSchema"]["type"] == "object"));
    assert!(tools.iter().all(|tool| tool["annotations"]["idempotentHint"] == true));
}

#[tokio::test]
async fn who_calls_is_who_was_proven() {
    let tools = Arc::default();
    let arguments = json!({ "agent": "bob", "message": "hello", "caller": "eve" });
    let answer = called(&tools, "notify", arguments.clone()).await;
    let want = json!({ "by": "ann", "tool": "notify", "with": arguments });

    assert_eq!(answer["result"]["structuredContent"], want);
    let text = answer["result"]["content"][0]["text"].as_str().expect("text");
    assert_eq!(serde_json::from_str::<Value>(text).expect("JSON"), want);
    let heard = tools.0.lock().expect("nobody panicked");
    assert_eq!(heard[0].2.id, "7", "by which a repeat is recognised");
}

#[tokio::test]
async fn what_failed_is_an_error_and_not_a_result() {
    let tools = Arc::default();
    let cases = [
        ("notify", "refuse", -32602, "say something else"),
        ("notify", "break", -32603, "ask again"),
        ("shell", "anything", -32602, "there is no tool shell; tools/list lists them"),
    ];
    for (tool, message, code, words) in cases {
        let answer = called(&tools, tool, json!({ "message": message })).await;
        assert_eq!(answer["error"]["code"], code, "{answer}");
        assert_eq!(answer["error"]["message"], words);
        assert!(answer.get("result").is_none(), "{answer}");
    }
}

#[tokio::test]
async fn a_call_that_is_too_long_is_refused() {
    let (status, events) = asked(&Arc::default(), vec![b' '; MCP_BYTES_MAX + 1]).await;

    assert_eq!(status, StatusCode::PAYLOAD_TOO_LARGE);
    assert!(events.is_empty());
}
