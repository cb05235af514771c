//! Tests of imperfect input that is read, and of input that is not.

use nightdesk_protocol::action::{Action, CHUNKS_BYTES_MAX, METADATA_BYTES_MAX};
use nightdesk_protocol::event::{Inbound, encode};
use nightdesk_protocol::frame::MalformedFrame;
use nightdesk_protocol::hello::Hello;
use nightdesk_protocol::{Frame, FromGateway, ToGateway};
use nightdesk_types::event::Content;
use nightdesk_types::send::Op;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::strategies::{entry_ids, events, texts};

fn decode(frame: &Value) -> FromGateway {
    FromGateway::decode(frame.to_string().as_bytes())
}

fn hello(frame: &Value) -> Hello {
    let FromGateway::Hello(hello) = decode(frame) else { panic!("{frame} is a hello") };
    hello
}

fn action(action: &Value) -> Action {
    let frame = json!({"type": "outbound", "requestId": "r", "action": action});
    let FromGateway::Outbound(outbound) = decode(&frame) else { panic!("{frame} is a request") };
    outbound.action
}

#[test]
fn lines_of_no_use_say_why() {
    let long = "x".repeat(5000);
    let cases: [(&str, MalformedFrame); 13] = [
        ("", MalformedFrame::NotJson),
        ("hello", MalformedFrame::NotJson),
        ("{\"type\":\"going_idle\"} trailing", MalformedFrame::NotJson),
        ("{\"type\":\"going_idle\"", MalformedFrame::NotJson),
        ("null", MalformedFrame::NotAnObject),
        ("7", MalformedFrame::NotAnObject),
        ("\"hello\"", MalformedFrame::NotAnObject),
        ("[\"hello\",\"discord\"]", MalformedFrame::NotAnObject),
        ("{}", MalformedFrame::NoType),
        ("{\"type\":null}", MalformedFrame::NoType),
        ("{\"type\":\"inbound_ack\"}", MalformedFrame::Missing("bufferId")),
        ("{\"type\":\"outbound\",\"action\":{}}", MalformedFrame::Missing("requestId")),
        ("{\"type\":\"interrupt\"}", MalformedFrame::Missing("session_key")),
    ];
    for (line, want) in cases {
        assert_eq!(FromGateway::decode(line.as_bytes()), FromGateway::Malformed(want), "{line}");
    }
    for frame in [
        json!({"type": "outbound", "requestId": long}),
        json!({"type": "interrupt", "session_key": long}),
        json!({"type": "hello", "platform": long}),
        json!({"type": "hello", "botId": long}),
    ] {
        assert!(matches!(decode(&frame), FromGateway::Malformed(MalformedFrame::Missing(_))));
    }
    let binary = FromGateway::decode(b"{\"type\":\"\xff\"}");
    assert_eq!(binary, FromGateway::Malformed(MalformedFrame::NotJson));
}

#[test]
fn a_frame_of_a_newer_contract_is_named_and_no_more() {
    let cases = [("dance".to_owned(), "dance".to_owned()), ("x".repeat(100), "x".repeat(64))];
    for (kind, want) in cases {
        let frame = json!({"type": kind, "platform": ["discord"], "action": 7});
        assert_eq!(decode(&frame), FromGateway::Unknown { kind: want });
    }
}

#[test]
fn a_hello_is_read_whatever_it_lacks() {
    let cases = [
        (json!({"type": "hello"}), ("relay", "")),
        (json!({"type": "hello", "platform": " Discord ", "botId": null}), ("discord", "")),
        (json!({"type": "hello", "platform": ["x"], "botId": {"a": 1}}), ("relay", "")),
        (json!({"type": "hello", "platform": "telegram", "botId": 42}), ("telegram", "42")),
        (json!({"type": "hello", "platform": "x", "botId": 1.5, "extra": [{}]}), ("x", "")),
    ];
    for (frame, (platform, bot_handle)) in cases {
        let hello = hello(&frame);
        assert_eq!((hello.platform.as_str(), hello.bot_handle.as_str()), (platform, bot_handle));
        assert_eq!((hello.commands, hello.client), (None, None));
    }
}

#[test]
fn commands_no_platform_would_take_are_left_out_one_by_one() {
    let manifest = |manifest: Value| {
        let frame = json!({"type": "hello", "platform": "discord", "command_manifest": manifest});
        let commands = hello(&frame).commands?;
        Some(commands.into_iter().map(|command| command.name).collect::<Vec<_>>())
    };
    let mixed = json!([
        {"name": "status", "description": "d", "options": [{"type": 3}]},
        {"name": "Status"}, {"name": ""}, {"name": "a".repeat(32)}, {"name": "a".repeat(33)},
        {"description": "nameless"}, 7, null, ["status", "d"], {"name": "a b"}, {"name": 5},
        {"name": "no-options", "options": "x"},
    ]);

    let names = ["status".to_owned(), "a".repeat(32), "5".to_owned(), "no-options".to_owned()];
    assert_eq!(manifest(mixed), Some(names.to_vec()));
    assert_eq!(manifest(json!([])), Some(vec![]), "its presence is a sign in itself");
    assert_eq!(manifest(json!("x")), None);
    let many: Vec<_> = (0..200).map(|n| json!({"name": format!("c{n}")})).collect();
    assert_eq!(manifest(json!(many)).map(|names| names.len()), Some(100));
}

#[test]
fn an_sdk_names_itself() {
    let version = format!("0.1.0{}", "+".repeat(100));
    let frame = json!({"type": "hello", "client": {"name": "nightdesk-sdk", "version": version}});

    let client = hello(&frame).client.expect("a client");
    assert_eq!((client.name.as_str(), client.version.len()), ("nightdesk-sdk", 64));
    assert_eq!(hello(&json!({"type": "hello", "client": "x"})).client, None);
}

#[test]
fn numbers_stand_for_ids() {
    let ack = decode(&json!({"type": "inbound_ack", "bufferId": 7}));
    assert_eq!(ack, FromGateway::InboundAck { buffer_id: "7".to_owned() });

    let frame = json!({
        "type": "outbound", "requestId": 9, "platform": null, "botId": "",
        "action": {"op": "send", "chat_id": -100, "content": "hi", "reply_to": 3, "metadata": null},
    });
    let FromGateway::Outbound(outbound) = decode(&frame) else { panic!("an outbound") };
    assert_eq!(outbound.request_id.as_str(), "9");
    assert_eq!((outbound.platform, outbound.bot_handle), (None, None));
    let Action::Send(send) = outbound.action else { panic!("a send") };
    assert_eq!(send.chat_id, "-100");
    assert_eq!(send.op, Op::Send { content: "hi".to_owned(), reply_to: Some("3".to_owned()) });
    assert!(send.metadata.is_empty());
}

#[test]
fn an_action_of_no_use_can_still_be_answered() {
    let cases = [
        (json!(null), "", "action"),
        (json!([]), "", "action"),
        (json!({}), "", "op"),
        (json!({"op": "send", "content": "x"}), "send", "chat_id"),
        (json!({"op": "send", "chat_id": "", "content": "x"}), "send", "chat_id"),
        (json!({"op": "send", "chat_id": "a\nb", "content": "x"}), "send", "chat_id"),
        (json!({"op": "send", "chat_id": "x".repeat(513), "content": "x"}), "send", "chat_id"),
        (json!({"op": "send", "chat_id": "c"}), "send", "content"),
        (json!({"op": "edit", "chat_id": "c", "content": "x"}), "edit", "message_id"),
        (json!({"op": "draft", "chat_id": "c", "draft_id": "x"}), "draft", "draft_id"),
        (json!({"op": "follow_up", "kind": "k"}), "follow_up", "session_key"),
        (
            json!({
                "op": "send", "chat_id": "c", "content": "x",
                "metadata": {"k": "x".repeat(METADATA_BYTES_MAX)},
            }),
            "send",
            "metadata",
        ),
        (
            json!({
                "op": "task_card", "chat_id": "c", "card_id": "k",
                "chunks": ["x".repeat(CHUNKS_BYTES_MAX)],
            }),
            "task_card",
            "chunks",
        ),
    ];
    for (wire, op, missing) in cases {
        assert_eq!(action(&wire), Action::Malformed { op: op.to_owned(), missing }, "{missing}");
    }
    let unknown = action(&json!({"op": "dance"}));
    assert_eq!(unknown, Action::Unknown { op: "dance".to_owned() });
}

#[test]
fn half_a_surrogate_pair_costs_one_character_and_not_the_frame() {
    let line = br#"{"type":"outbound","requestId":"r","action":{"op":"send","chat_id":"c",
        "content":"a\ud800b \ud83d\ude00"}}"#;

    let FromGateway::Outbound(outbound) = FromGateway::decode(line) else { panic!("an outbound") };
    let Action::Send(send) = outbound.action else { panic!("a send") };
    let content = "a\u{fffd}b \u{1f600}".to_owned();
    assert_eq!(send.op, Op::Send { content, reply_to: None });
}

/// A frame, or a damaged one.
pub(crate) fn junk() -> impl Strategy<Value = Value> {
    const KEYS: [&str; 24] = [
        "type",
        "platform",
        "botId",
        "command_manifest",
        "client",
        "bufferId",
        "requestId",
        "action",
        "session_key",
        "reason",
        "descriptor",
        "event",
        "forward",
        "result",
        "op",
        "chat_id",
        "content",
        "metadata",
        "source",
        "headers",
        "name",
        "options",
        "media",
        "context",
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        texts().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 6, |inner| {
        let keys = prop::sample::select(&KEYS[..]).prop_map(str::to_owned);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::hash_map(keys, inner, 0..6)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

fn typed_junk() -> impl Strategy<Value = Value> {
    const TYPES: [&str; 12] = [
        "hello",
        "inbound_ack",
        "outbound",
        "interrupt",
        "interrupt_result",
        "going_idle",
        "descriptor",
        "inbound",
        "outbound_result",
        "interrupt_inbound",
        "passthrough_forward",
        "going_idle_ack",
    ];
    (junk(), prop::sample::select(&TYPES[..])).prop_map(|(mut frame, kind)| {
        if let Value::Object(fields) = &mut frame {
            fields.insert("type".to_owned(), kind.into());
        }
        frame
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn any_json_is_read_without_harm(frame in typed_junk()) {
        let line = frame.to_string();
        for malformed in [
            matches!(FromGateway::decode(line.as_bytes()), FromGateway::Malformed(MalformedFrame::NotJson)),
            matches!(ToGateway::decode(line.as_bytes()), ToGateway::Malformed(MalformedFrame::NotJson)),
        ] {
            prop_assert!(!malformed, "{}", line);
        }
    }

    #[test]
    fn any_bytes_are_read_without_harm(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        drop(FromGateway::decode(&bytes));
        drop(ToGateway::decode(&bytes));
    }

    #[test]
    fn the_sdk_reads_what_the_desk_wrote(event in events(), entry in entry_ids()) {
        let Ok(json) = encode(&event, "bot") else { return Ok(()) };
        let frame = Frame::entry(entry, &json);

        match (ToGateway::decode(frame.as_str().as_bytes()), event.content()) {
            (ToGateway::Inbound { event: read, buffer_id }, Content::Message(message)) => {
                let source = event.source().clone();
                let bot_handle = Some("bot".to_owned());
                prop_assert_eq!(*read, Inbound { source, message: (**message).clone(), bot_handle });
                prop_assert_eq!(buffer_id, Some(entry.to_string()));
            }
            (ToGateway::PassthroughForward { forward, buffer_id }, Content::Passthrough(request)) => {
                prop_assert_eq!(&forward.request, request);
                prop_assert_eq!(&forward.platform, &event.source().platform);
                prop_assert_eq!(&forward.profile, &event.source().profile);
                prop_assert_eq!(buffer_id, Some(entry.to_string()));
            }
            (read, wrote) => prop_assert!(false, "{:?} was read for {:?}", read, wrote),
        }
    }
}
