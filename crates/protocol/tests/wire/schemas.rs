//! The JSON Schemas of the frames accept every frame of the desk, of the SDK and of a stock client, and no others.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use jsonschema::Validator;
use nightdesk_protocol::Frame;
use nightdesk_protocol::event::encode;
use nightdesk_protocol::frame::schema::schemas;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::strategies::{entry_ids, events};

/// Returns the validator of a direction: `ToGateway` or `FromGateway`.
fn validator(direction: &str) -> Validator {
    let mut schema = schemas();
    let whole = schema.as_object_mut().expect("a schema is an object");
    whole.remove("anyOf").expect("the document accepts both directions");
    whole.insert("$ref".to_owned(), format!("#/$defs/{direction}").into());
    jsonschema::validator_for(&schema).expect("a schema of our own is valid")
}

fn assert_valid(validator: &Validator, frame: &Value) {
    let errors: Vec<_> = validator.iter_errors(frame).map(|error| error.to_string()).collect();
    assert_eq!(errors, Vec::<String>::new(), "{frame}");
}

/// Returns the frames of all snapshots.
fn snapshots() -> Vec<Value> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/wire/snapshots");
    let files = fs::read_dir(folder).expect("the folder is in the repository");
    let texts = files.map(|file| fs::read_to_string(file.expect("a file").path()).expect("a text"));
    let frames = texts.flat_map(|text| {
        let lines = text.lines().filter(|line| line.starts_with("{\"type\""));
        lines.map(|line| serde_json::from_str(line).expect("a frame")).collect::<Vec<Value>>()
    });
    frames.collect()
}

fn kind(frame: &Value) -> &str {
    frame["type"].as_str().expect("a frame has a type")
}

#[test]
fn the_file_of_the_schemas_is_that_of_the_code() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/frames.schema.json");
    let kept = fs::read_to_string(file).unwrap_or_default();
    assert!(kept == format!("{:#}\n", schemas()), "the file is stale; run `just gen`");
}

#[test]
fn every_frame_of_the_snapshots_fits_one_direction() {
    let (to, from) = (validator("ToGateway"), validator("FromGateway"));
    let mut kinds = BTreeSet::new();
    for frame in snapshots() {
        let directions = [&to, &from].map(|direction| direction.is_valid(&frame));
        assert!(matches!(directions, [true, false] | [false, true]), "{directions:?}: {frame}");
        kinds.insert(kind(&frame).to_owned());
    }
    let all = [
        "descriptor",
        "going_idle",
        "going_idle_ack",
        "hello",
        "inbound",
        "inbound_ack",
        "interrupt",
        "interrupt_inbound",
        "interrupt_result",
        "outbound",
        "outbound_result",
        "passthrough_forward",
        "sessions",
    ];
    assert_eq!(kinds.iter().map(String::as_str).collect::<Vec<_>>(), all);
}

#[test]
fn every_captured_frame_of_a_stock_client_fits() {
    let from = validator("FromGateway");
    let captured = include_str!("../vectors/hermes_frames.jsonl").lines();
    let captured = captured.map(|line| serde_json::from_str(line).expect("each line is JSON"));
    let sent = captured.filter(|capture: &Value| capture["dir"] == "gateway->connector");
    let sent: Vec<_> = sent.collect();
    assert_eq!(sent.len(), 13);
    for capture in sent {
        assert_valid(&from, &capture["frame"]);
    }
}

#[test]
fn a_frame_that_lacks_a_field_does_not_fit() {
    let (to, from) = (validator("ToGateway"), validator("FromGateway"));
    let frames = snapshots();
    let cases = [
        ("descriptor", "/descriptor", "max_message_length"),
        ("inbound", "", "event"),
        ("inbound", "/event", "text"),
        ("inbound", "/event/source", "user_id"),
        ("outbound_result", "/result", "success"),
        ("interrupt_inbound", "", "chat_id"),
        ("passthrough_forward", "/forward", "bodyB64"),
        ("inbound_ack", "", "bufferId"),
        ("outbound", "", "requestId"),
        ("outbound", "/action", "op"),
        ("outbound", "/action", "content"),
        ("interrupt", "", "session_key"),
        ("interrupt_result", "", "stop_id"),
        ("sessions", "", "sessions"),
        ("hello", "", "type"),
        ("going_idle", "", "type"),
        ("going_idle_ack", "", "type"),
    ];
    for (name, parent, field) in cases {
        let mut frame =
            frames.iter().find(|frame| kind(frame) == name).expect("it is there").clone();
        let parent = frame.pointer_mut(parent).and_then(Value::as_object_mut).expect("an object");
        parent.remove(field).expect("the whole frame has the field");
        assert!(!to.is_valid(&frame) && !from.is_valid(&frame), "{name} without {field}");
    }
    let unknown =
        json!({"type": "outbound", "requestId": "r1", "action": {"op": "dance", "chat_id": "c1"}});
    assert!(!from.is_valid(&unknown), "an op that this desk does not know");
}

proptest! {
    #[test]
    fn every_entry_of_the_desk_fits(event in events(), id in entry_ids()) {
        let Ok(json) = encode(&event, "botD") else { return Ok(()) };
        let frame = serde_json::from_str(Frame::entry(id, &json).as_str()).expect("a frame");
        assert_valid(&validator("ToGateway"), &frame);
    }
}
