//! Tests with bytes of real runtimes, and with omitted fields.

use serde_json::{Value, json};

use super::*;

/// A payload of a real runtime.
const REAL: &str = r#"{"agent_id":"perry","kind":"augment","content":"hi","meta":{"dispatch_id":"ed3ced3e-2fa1-4958-a274-c945bb79bb78","sent_at":1794696802569,"origin":{"skill_name":"ping","trigger_kind":"inline"},"event_type":"x"}}"#;

fn read<T: serde::de::DeserializeOwned>(value: &Value) -> Result<T, serde_json::Error> {
    serde_json::from_value(value.clone())
}

#[test]
fn what_a_real_runtime_sends_is_read_and_written_byte_for_byte() {
    let read: Delivery = serde_json::from_str(REAL).unwrap();

    assert_eq!(read.payload.text(), "hi");
    assert_eq!(read.payload.meta().sent_at, Millis(1_794_696_802_569));
    assert_eq!(serde_json::to_string(&read).unwrap(), REAL);
}

#[test]
fn words_that_nobody_knows_go_on_as_they_came() {
    let mut sent: Value = serde_json::from_str(REAL).unwrap();
    sent["meta"]["origin"]["trigger_kind"] = json!("supervisor");
    sent["meta"]["origin"]["mood"] = json!(7);
    sent["new"] = json!({ "a": [1] });
    sent["meta"]["correlation_id"] = Value::Null;

    let read: Delivery = read(&sent).unwrap();
    let meta = read.payload.meta();
    assert_eq!(meta.origin.trigger_kind, TriggerKind::Other("supervisor".to_owned()));
    assert_eq!(meta.correlation_id, None);
    let again = serde_json::to_value(&read).unwrap();
    assert_eq!(again["meta"]["origin"]["trigger_kind"], "supervisor");
    assert!(again["meta"].get("correlation_id").is_none());
}

#[test]
fn every_word_of_the_contract_is_known() {
    let known = ["cron", "event", "webhook", "agent", "cli", "dashboard", "inline"];
    for word in known {
        let kind = TriggerKind::from(word.to_owned());
        assert!(!matches!(kind, TriggerKind::Other(_)), "{word}");
        assert_eq!(kind.as_str(), word);
    }
}

#[test]
fn a_kind_that_nobody_can_carry_is_refused() {
    let mut sent: Value = serde_json::from_str(REAL).unwrap();
    sent["kind"] = json!("binary");

    assert!(read::<Delivery>(&sent).is_err());
}

#[test]
fn what_is_not_set_is_left_out() {
    let plain = DeliveryReceipt { delivered_at: Millis(5), ..DeliveryReceipt::default() };
    assert_eq!(serde_json::to_value(plain).unwrap(), json!({ "delivered_at": 5 }));
    let plain = WakeReceipt { woken_at: Millis(5), ..WakeReceipt::default() };
    assert_eq!(serde_json::to_value(plain).unwrap(), json!({ "woken_at": 5, "woken": false }));
    let bare = WakeRequest { agent_id: "perry@kitchen".to_owned(), ..WakeRequest::default() };
    assert_eq!(serde_json::to_string(&bare).unwrap(), r#"{"agent_id":"perry@kitchen"}"#);
    let bare = AgentDescriptor { agent_id: "perry".to_owned(), ..AgentDescriptor::default() };
    assert_eq!(serde_json::to_value(bare).unwrap(), json!({ "agent_id": "perry" }));
    let features = Features { deliver: Some(true), ..Features::default() };
    assert_eq!(serde_json::to_value(features).unwrap(), json!({ "deliver": true }));
}

#[test]
fn a_receipt_comes_back_as_it_went() {
    let receipt = WakeReceipt {
        woken_at: Millis(1_794_696_802_569),
        woken: true,
        session_id: Some("kitchen".to_owned()),
        warnings: vec!["put off".to_owned()],
    };
    let text = serde_json::to_string(&receipt).unwrap();
    assert_eq!(serde_json::from_str::<WakeReceipt>(&text).unwrap(), receipt);
}

#[test]
fn a_time_is_a_number_of_milliseconds_or_now() {
    for (said, want) in [
        (json!("immediate"), Some(When::Immediate)),
        (json!(1_794_696_802_569_i64), Some(When::At(Millis(1_794_696_802_569)))),
        (json!(1_794_696_802_569.4), Some(When::At(Millis(1_794_696_802_569)))),
        (json!("soon"), None),
        (json!({}), None),
    ] {
        assert_eq!(read::<When>(&said).ok(), want, "{said}");
    }
    assert_eq!(serde_json::to_value(When::At(Millis(7))).unwrap(), json!(7));
    assert_eq!(serde_json::to_value(When::Immediate).unwrap(), json!("immediate"));
}
