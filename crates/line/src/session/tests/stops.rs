//! Stops, and the answers to them.

use super::*;

const SDK_HELLO: &str =
    r#"{"type":"hello","platform":"discord","botId":"b","client":{"name":"nightdesk-sdk"}}"#;

#[test]
fn a_stop_goes_down_the_line() {
    let mut session = live();
    let session_key = SessionKey::new("agent:main:discord:dm:c1").unwrap();

    let frame = Frame::interrupt_inbound(&session_key, "c1", None).unwrap();
    assert_eq!(session.step(at(HOLD_BACK), stop(None)), [LineEffect::Say(frame)]);
}

fn stop(report_to: Option<StopReceiver>) -> LineInput {
    let session_key = SessionKey::new("agent:main:discord:dm:c1").unwrap();
    LineInput::Stop { session_key, chat_id: "c1".to_owned(), report_to }
}

fn receiver(stop: &str) -> StopReceiver {
    StopReceiver { stop_id: StopId::new(stop).unwrap(), node: "other".to_owned() }
}

#[test]
fn a_stock_client_is_not_asked_for_an_answer_and_the_stop_counts_as_delivered() {
    let mut session = live();

    let effects = session.step(at(HOLD_BACK), stop(Some(receiver("s1"))));
    let LineEffect::Say(frame) = &effects[0] else { panic!("{effects:?}") };
    assert!(!frame.as_str().contains("stop_id"), "{frame:?}");
    assert_eq!(effects[1], LineEffect::ReportStop(receiver("s1"), StopOutcome::Delivered));
    let answer = r#"{"type":"interrupt_result","stop_id":"s1","stopped":true}"#;
    assert_eq!(session.step(at(HOLD_BACK), heard(answer)), [], "it was reported before");
}

#[test]
fn the_answer_to_a_stop_is_reported_to_the_node_that_asked() {
    let mut session = opened_by(SDK_HELLO, CLIENT, taken(100));

    let effects = session.step(at(secs(1)), stop(Some(receiver("s1"))));
    let LineEffect::Say(frame) = &effects[0] else { panic!("{effects:?}") };
    assert!(frame.as_str().contains(r#""stop_id":"s1""#), "{frame:?}");
    assert_eq!(effects.len(), 1, "the client answers");
    let answer = |stop, stopped| {
        heard(&format!(r#"{{"type":"interrupt_result","stop_id":"{stop}","stopped":{stopped}}}"#))
    };
    assert_eq!(session.step(at(secs(1)), answer("s2", true)), [], "the desk did not ask");
    let report = LineEffect::ReportStop(receiver("s1"), StopOutcome::NotRunning);
    assert_eq!(session.step(at(secs(1)), answer("s1", false)), [report]);
}

#[test]
fn a_stop_that_could_not_be_posted_is_reported() {
    let mut session = opened_by(SDK_HELLO, CLIENT, taken(100));
    session.step(at(secs(1)), stop(Some(receiver("s1"))));

    let failed = LineInput::StopFailed(receiver("s1").stop_id);
    let report = LineEffect::ReportStop(receiver("s1"), StopOutcome::Undelivered);
    assert_eq!(session.step(at(secs(1)), failed), [report]);
}
