//! The test vectors that are made of the desk's own code: frames, the newest session keys, letters, webhooks.
//!
//! `just gen` writes them, and a test compares them with the checked-in files. The SDKs for Python and TypeScript read
//! the same files.

use aws_lc_rs::hmac;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use nightdesk_protocol::ToGateway;
use nightdesk_protocol::delivery::{DeliveryReceipt, Millis, Response};
use nightdesk_protocol::event::Inbound;
use nightdesk_protocol::http::letters::{DispatchResult, LetterSendRequest, LetterSendResponse};
use nightdesk_protocol::outcome::Outcome;
use nightdesk_protocol::session_key::{KeySource, SessionKey, Sharing, newest_key};
use serde::Deserialize;
use serde_json::{Value, json};

/// A file of vectors.
pub(crate) struct VectorFile {
    pub(crate) name: &'static str,
    content: Value,
}

impl VectorFile {
    /// Returns the text of the file.
    pub(crate) fn text(&self) -> String {
        format!("{:#}\n", self.content)
    }
}

/// Makes every file.
pub(crate) fn make() -> Vec<VectorFile> {
    vec![
        VectorFile { name: "frames.json", content: frames() },
        VectorFile { name: "session_keys_newest.json", content: newest_keys() },
        VectorFile { name: "letters.json", content: letters() },
        VectorFile { name: "webhooks.json", content: webhooks() },
    ]
}

/// Lines of the desk, each with its name. `just gen` adds what a client reads.
const LINES: &str = include_str!("lines_of_the_desk.jsonl");

/// Frames of the desk, and what a client reads. `null`: it ignores the line.
fn frames() -> Value {
    let cases = LINES.lines().map(|line| {
        let case: Value = serde_json::from_str(line).expect("a case is JSON");
        let text = case["line"].as_str().map_or_else(|| case["line"].to_string(), str::to_owned);
        let read = read_frame(&ToGateway::decode(text.as_bytes()));
        json!({ "name": case["name"], "line": text, "read": read })
    });
    cases.collect()
}

fn read_frame(frame: &ToGateway) -> Value {
    match frame {
        ToGateway::Descriptor(descriptor) => json!({
            "type": "descriptor", "platform": descriptor.platform(), "label": descriptor.label(),
            "max_message_length": descriptor.max_message_length(),
            "len_unit": descriptor.len_unit(),
            "ops": (["send", "react"].map(|op| descriptor.accepts_op(op))),
        }),
        ToGateway::Inbound { event, buffer_id } => read_event(event, buffer_id.as_deref()),
        ToGateway::OutboundResult { request_id, result } => json!({
            "type": "result", "request_id": request_id.as_str(), "outcome": outcome(result),
            "message_id": result.message_id(), "thread_id": result.thread_id(),
        }),
        ToGateway::InterruptInbound { session_key, .. } => {
            json!({ "type": "interrupt", "session_key": session_key.as_str() })
        }
        ToGateway::PassthroughForward { forward, buffer_id } => json!({
            "type": "forward", "id": buffer_id, "platform": forward.platform,
            "session": format!("forward:{}:{}", forward.platform, forward.bot_handle),
        }),
        ToGateway::GoingIdleAck => json!({ "type": "idle" }),
        ToGateway::Unknown { .. } | ToGateway::Malformed(_) => Value::Null,
    }
}

fn read_event(event: &Inbound, buffer_id: Option<&str>) -> Value {
    let Inbound { source, message, bot_handle } = event;
    let key = newest_key(&KeySource::from(source), &Sharing::default());
    json!({
        "type": "entry", "id": buffer_id, "text": message.text, "message_type": message.kind,
        "message_id": message.message_id, "session": key.as_ref().map(SessionKey::as_str).ok(),
        "source": {
            "platform": source.platform, "chat_id": source.chat_id, "chat_type": source.chat_type,
            "user_id": source.user_id, "user_name": source.user_name,
            "thread_id": source.thread_id, "scope_id": source.scope_id, "bot": bot_handle,
            "is_bot": source.is_bot, "message_is_edit": message.is_edit,
        },
    })
}

fn outcome(result: &Outcome) -> &'static str {
    if result.is_success() {
        return "done";
    }
    match (result.is_ambiguous(), result.code()) {
        (true, _) => "ambiguous",
        (false, Some(_)) => "refused",
        (false, None) => "failed",
    }
}

/// The captured sources with the keys of the newest client, and sources for which it differs.
fn newest_keys() -> Value {
    #[derive(Deserialize)]
    struct Captured {
        source: Value,
        options: Option<Value>,
    }
    let captured: Vec<Captured> =
        serde_json::from_str(include_str!("../vectors/session_keys.json")).expect("captured keys");
    // The desk sends known kinds of chats and no zeros, and only the client itself has the options.
    let is_sent = |source: &Value| {
        let kind = source.get("chat_type").map(|kind| kind.as_str().unwrap_or_default());
        let is_known = matches!(kind, None | Some("dm" | "group" | "channel" | "thread" | "forum"));
        is_known && source.as_object().is_some_and(|all| !all.values().any(|value| value == 0))
    };
    let captured =
        captured.into_iter().filter(|case| case.options.is_none()).map(|case| case.source);
    let slack = json!({
        "platform": "slack", "chat_id": "D0", "chat_type": "dm", "user_id": "U0", "scope_id": "T0",
    });
    let opens = json!({
        "platform": "discord", "chat_id": "c1", "chat_type": "group", "user_id": "u1",
        "scope_id": "g1", "prospective_thread_id": "m1",
    });
    let added = [
        slack.clone(),
        with(&slack, &json!({"thread_id": "1.2"})),
        with(&slack, &json!({"chat_id": ""})),
        with(&slack, &json!({"chat_type": "group"})),
        with(&slack, &json!({"platform": "signal"})),
        opens.clone(),
        with(&opens, &json!({"chat_type": "dm"})),
        with(&opens, &json!({"thread_id": "t1"})),
        with(&opens, &json!({"chat_type": "thread", "thread_id": "m1", "user_id": "u2"})),
        json!({"platform": "telegram", "chat_id": -100, "chat_type": "forum", "thread_id": 3}),
        json!({"platform": "webchat", "chat_id": "v1", "chat_type": "dm"}),
    ];
    let sources = captured.filter(is_sent).chain(added);
    let cases = sources.map(|source| {
        let read = KeySource::deserialize(&source).expect("any object is a source");
        let key = newest_key(&read, &Sharing::default());
        let key = key.as_ref().map(SessionKey::as_str).ok();
        json!({ "source": source, "key": key })
    });
    cases.collect()
}

fn with(source: &Value, more: &Value) -> Value {
    let both = [source, more].into_iter().filter_map(Value::as_object).flatten();
    both.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// Calls of a client, each with the body of its request, and responses of the desk.
fn letters() -> Value {
    let request = |op: &str, letter: Value| {
        let body = with(&json!({ "op": op }), &letter);
        let read: LetterSendRequest =
            serde_json::from_value(body.clone()).expect("the desk reads it");
        json!({ "op": op, "letter": letter, "body": body, "read": read })
    };
    let delivered_at = Millis(1_795_003_200_000);
    let delivered = DeliveryReceipt { delivered_at, ..DeliveryReceipt::default() };
    let dispatched = DispatchResult {
        connector: "desk".to_owned(),
        ok: true,
        route: "deliver".to_owned(),
        delivered: Some(delivered),
        woken: None,
        cause: None,
        error: None,
    };
    let sent = LetterSendResponse {
        agent: "owl".to_owned(),
        dispatch_id: "weather-1".to_owned(),
        dispatched: vec![dispatched],
        response: None,
    };
    let replied = LetterSendResponse {
        response: Some(Response {
            correlation_id: "c1".to_owned(),
            content: "sunny".to_owned(),
            sent_at: Millis(1_795_003_201_000),
            agent_id: "0192f0c1-7f7e-7000-8000-000000000007".to_owned(),
        }),
        ..sent.clone()
    };
    json!({
        "requests": [
            request("notify", json!({ "agent": "owl@kitchen", "message": "hello" })),
            request("deliver", json!({
                "agent": "owl", "message": "hello", "kind": "template", "dispatch_id": "weather-1",
            })),
            request("wake", json!({
                "agent": "owl", "message": "hello", "session_id": "kitchen", "when": 1_800_000_000_000_i64,
            })),
            request("exchange", json!({
                "agent": "owl", "message": "How is the weather?", "correlation_id": "c1",
                "timeout_ms": 60_000,
            })),
        ],
        "sent": sent,
        "replied": replied,
    })
}

const WEBHOOK_KEYS: [&[u8]; 2] =
    [b"a key of thirty-two bytes, or so.", b"another one, of before the change"];
const WEBHOOK_ID: &str = "entry-1";
const WEBHOOK_BODY: &str = r#"{"type":"inbound","event":{"text":"héllo ☃"},"bufferId":"entry-1"}"#;
const NOW: i64 = 1_795_003_200;

/// The headers of a post.
#[derive(Clone, Copy)]
struct PostHeaders<'a> {
    id: &'a str,
    at: &'a str,
    signature: &'a str,
}

/// Posts, and whether an agent with these secrets takes them.
fn webhooks() -> Value {
    let now = NOW.to_string();
    let [new, old] = WEBHOOK_KEYS.map(|key| signature(key, WEBHOOK_ID, &now));
    let by = |signature| PostHeaders { id: WEBHOOK_ID, at: &now, signature };
    let (both, beside) = (format!("{new} {old}"), format!("v1a,AAAA {new}"));
    let stranger = signature(b"a key of another agent", WEBHOOK_ID, &now);
    let (unnamed, timeless) =
        (signature(WEBHOOK_KEYS[0], "", &now), signature(WEBHOOK_KEYS[0], WEBHOOK_ID, "soon"));
    let later = (NOW + 1).to_string();
    let cases = [
        ("by the new secret", by(&new), true),
        ("by the older secret", by(&old), true),
        ("by both", by(&both), true),
        ("beside a signature of another kind", by(&beside), true),
        ("another id", PostHeaders { id: "entry-2", ..by(&new) }, false),
        ("another time", PostHeaders { at: &later, ..by(&new) }, false),
        ("by a secret of another agent", by(&stranger), false),
        ("without the version", by(new.trim_start_matches("v1,")), false),
        ("an empty signature", by("v1,"), false),
        ("no signature", by(""), false),
        ("no id", PostHeaders { id: "", ..by(&unnamed) }, false),
        ("a time that is no number", PostHeaders { at: "soon", ..by(&timeless) }, false),
    ];
    let cases = cases.map(|(name, headers, good)| post(name, headers, WEBHOOK_BODY, good));
    let aged = [
        ("five minutes old", -300, true),
        ("older", -301, false),
        ("five minutes ahead", 300, true),
        ("further ahead", 301, false),
    ];
    let aged = aged.map(|(name, seconds, good)| {
        let at = (NOW + seconds).to_string();
        let signature = signature(WEBHOOK_KEYS[0], WEBHOOK_ID, &at);
        let headers = PostHeaders { id: WEBHOOK_ID, at: &at, signature: &signature };
        post(name, headers, WEBHOOK_BODY, good)
    });
    let changed = post("another body", by(&new), &format!("{WEBHOOK_BODY} "), false);
    let cases: Value = cases.into_iter().chain(aged).chain([changed]).collect();
    let secrets = WEBHOOK_KEYS.map(|key| format!("whsec_{}", STANDARD.encode(key)));
    json!({ "now": NOW, "secrets": secrets, "cases": cases })
}

fn signature(key: &[u8], id: &str, at: &str) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA256, key);
    let tag = hmac::sign(&key, format!("{id}.{at}.{WEBHOOK_BODY}").as_bytes());
    format!("v1,{}", STANDARD.encode(tag))
}

fn post(name: &str, headers: PostHeaders<'_>, body: &str, good: bool) -> Value {
    let PostHeaders { id, at, signature } = headers;
    json!({
        "name": name, "good": good, "body": body,
        "headers": { "webhook-id": id, "webhook-timestamp": at, "webhook-signature": signature },
    })
}
