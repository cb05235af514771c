//! Tests for clients of several generations.

use std::iter;

use super::*;

const SDK: &str = r#"{"type":"hello","platform":"d","botId":"b","client":{"name":"sdk"}}"#;

/// Sends a request with this id and returns the effects of its result.
fn request(session: &mut LineSession, op: &str, name: &str) -> Vec<LineEffect> {
    let action = match op {
        "typing" => r#"{"op":"typing","chat_id":"c"}"#,
        _ => r#"{"op":"send","chat_id":"c","content":"hi"}"#,
    };
    let line = format!(r#"{{"type":"outbound","requestId":"{name}","action":{action}}}"#);
    session.step(at(HOLD_BACK), heard(&line));
    let outcome = Box::new(Outcome::delivered(None));
    session.step(at(HOLD_BACK), LineInput::Sent(RequestId::new(name).unwrap(), outcome))
}

#[test]
fn a_client_that_reads_nothing_is_not_told_more_than_it_can_take() {
    let mut session = live();
    session.step(at(HOLD_BACK), read((1..=7).map(entry).collect()));
    let typed = |session: &mut LineSession, number: usize| {
        said(&request(session, "typing", &format!("t{number}")))
    };

    let told: Vec<usize> = (7..14).map(|number| typed(&mut session, number)).collect();
    assert_eq!(told, [1, 1, 1, 1, 1, 0, 0], "seven entries and five answers are twelve frames");
    let sent = request(&mut session, "send", "s1");
    assert_eq!(said(&sent), 1, "somebody waits for the answer to a message");
    let reads = sent.iter().any(|effect| matches!(effect, LineEffect::Read { .. }));
    assert!(!reads, "nothing more is handed over: {sent:?}");

    assert_eq!(said(&session.step(at(HOLD_BACK), ack_of(1))), 0, "still twelve");
    assert_eq!(said(&session.step(at(HOLD_BACK), ack_of(2))), 1);
    (3..=6).for_each(|seq| drop(session.step(at(HOLD_BACK), ack_of(seq))));
    let last = session.step(at(HOLD_BACK), ack_of(7));
    assert_eq!(said(&last), 0, "all answers were given");
    assert_eq!(typed(&mut session, 20), 1, "the client reads again");
}

#[test]
fn a_client_that_is_slow_with_each_entry_keeps_its_line() {
    let mut session = live();
    session.step(at(HOLD_BACK), read((1..=6).map(entry).collect()));
    let mut now = HOLD_BACK;
    for seq in 1..=6 {
        // The client waits half a minute inside each handler, and answers pings meanwhile.
        for _ in 0..6 {
            now += secs(5);
            session.step(at(now), LineInput::Pong);
            let effects = session.step(at(now), LineInput::Tick);
            assert!(!effects.contains(&LineEffect::Suspect), "entry {seq}: {effects:?}");
        }
        session.step(at(now), ack_of(seq));
        assert!(!session.is_closed(), "entry {seq}");
    }
}

#[test]
fn an_agent_of_our_sdk_is_told_everything_at_once() {
    let mut session = opened_by(SDK, CLIENT, taken(100));
    session.step(at(HOLD_BACK), read((1..=12).map(entry).collect()));

    assert_eq!(said(&request(&mut session, "typing", "t1")), 1);
}

#[test]
fn the_rules_of_a_client_are_learnt_once() {
    const MANIFEST: &str =
        r#"{"type":"hello","platform":"discord","botId":"b","command_manifest":[]}"#;
    const TELEGRAM: &str = r#"{"type":"hello","platform":"telegram","botId":"b"}"#;
    const REACT: &str = r#"{"type":"outbound","requestId":"r","action":{"op":"react","chat_id":"c","message_id":"m","emoji":"👀"}}"#;
    const SEND: &str = r#"{"type":"outbound","requestId":"r","action":{"op":"send","chat_id":"c","content":"hi"}}"#;
    use ClientRules::{Hermes019, Hermes020, Sdk};
    let cases: [(&str, &[&str], ClientRules, &[ClientRules]); 9] = [
        ("it lists its commands", &[MANIFEST], Hermes019, &[Hermes020]),
        ("that is known", &[MANIFEST], Hermes020, &[]),
        ("an older client is back", &[HELLO], Hermes020, &[Hermes019]),
        ("on Telegram nothing shows", &[TELEGRAM, SEND], Hermes020, &[]),
        ("until it reacts", &[TELEGRAM, SEND, REACT, REACT], Hermes019, &[Hermes020]),
        ("the second platform shows", &[TELEGRAM, MANIFEST], Hermes019, &[Hermes020]),
        ("the second does not unlearn", &[MANIFEST, TELEGRAM], Hermes020, &[]),
        ("our SDK says so", &[SDK], Hermes019, &[Sdk]),
        ("and may react", &[SDK, REACT], Sdk, &[]),
    ];
    for (name, said, kept, want) in cases {
        let mut session = LineSession::new(at(secs(0)), CLIENT);
        session.step(at(secs(0)), heard(said[0]));
        let greeted = session.step(at(secs(0)), greeted());
        let Some(LineEffect::Take(shown)) = greeted.last() else { panic!("{greeted:?}") };
        let mut followed: Vec<_> = shown.iter().copied().filter(|rules| *rules != kept).collect();
        let rules = shown.unwrap_or(kept);
        let taken = LineInput::Taken(LineStart { rules, ..taken(1) });
        let rest = said.iter().skip(1).map(|line| heard(line));
        for input in iter::once(taken).chain(rest) {
            let effects = session.step(at(secs(0)), input);
            followed.extend(effects.into_iter().filter_map(|effect| {
                if let LineEffect::FollowRules(rules) = effect { Some(rules) } else { None }
            }));
        }
        assert_eq!(followed, want, "{name}");
    }
}

#[test]
fn typing_in_many_chats_keeps_no_answer_back() {
    let mut session = live();
    let asks = |session: &mut LineSession, name: &str, op: &str| {
        let action = format!(r#"{{"op":"{op}","chat_id":"c","content":"hi"}}"#);
        let line = format!(r#"{{"type":"outbound","requestId":"{name}","action":{action}}}"#);
        session.step(at(HOLD_BACK), heard(&line))
    };
    let shown: Vec<bool> = (0..=SENDS_IN_FLIGHT_MAX)
        .map(|number| asks(&mut session, &format!("t{number}"), "typing"))
        .map(|effects| effects.iter().any(|effect| matches!(effect, LineEffect::Send(_))))
        .collect();
    assert!(shown[..SENDS_IN_FLIGHT_MAX].iter().all(|shown| *shown), "up to the limit");
    assert!(!shown[SENDS_IN_FLIGHT_MAX], "past the limit it is answered as if it had been shown");

    let sent = asks(&mut session, "s1", "send");
    assert!(sent.iter().any(|effect| matches!(effect, LineEffect::Send(_))), "{sent:?}");
}

/// Returns the sessions that a line is to store.
fn told_sessions(effects: &[LineEffect]) -> Vec<Vec<String>> {
    effects
        .iter()
        .filter_map(|effect| {
            if let LineEffect::TellSessions(sessions) = effect {
                Some(sessions.to_vec())
            } else {
                None
            }
        })
        .collect()
}

#[test]
fn sessions_are_stored_once_the_line_is_taken_and_when_they_change() {
    const SESSIONS: &str = r#"{"type":"sessions","sessions":["kitchen",7,"cellar",""]}"#;
    let names = vec![vec!["7".to_owned(), "cellar".to_owned(), "kitchen".to_owned()]];
    let mut session = LineSession::new(at(secs(0)), CLIENT);
    session.step(at(secs(0)), heard(HELLO));
    let early = session.step(at(secs(0)), heard(SESSIONS));
    assert!(told_sessions(&early).is_empty(), "the line is not the newest yet: {early:?}");
    session.step(at(secs(0)), greeted());

    let taken = session.step(at(secs(0)), LineInput::Taken(taken(0)));
    assert_eq!(told_sessions(&taken), names);
    assert!(told_sessions(&session.step(at(secs(1)), heard(SESSIONS))).is_empty(), "no change");
    let none = session.step(at(secs(1)), heard(r#"{"type":"sessions","sessions":[]}"#));
    assert_eq!(told_sessions(&none), [Vec::<String>::new()]);
}
