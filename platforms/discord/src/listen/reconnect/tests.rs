use super::*;

const MAIN: &str = "wss://main";

fn at(seq: u64) -> SessionCursor {
    SessionCursor { session: "s1".to_owned(), url: "wss://resume".to_owned(), seq }
}

/// Creates a course whose session is at sequence number 5.
fn course() -> ReconnectState {
    ReconnectState::new(MAIN.to_owned(), Some(at(5)), false)
}

/// Returns a conversation that Discord accepted.
fn live(course: &ReconnectState) -> GatewaySession {
    let mut talk = course.next_session();
    talk.handle_frame(r#"{"op":10,"d":{"heartbeat_interval":1000}}"#);
    let frame = match talk.cursor() {
        Some(session) => format!(r#"{{"op":0,"t":"RESUMED","s":{},"d":{{}}}}"#, session.seq + 1),
        None => {
            r#"{"op":0,"t":"READY","s":1,"d":{"session_id":"s2","resume_gateway_url":"wss://two"}}"#
                .to_owned()
        }
    };
    talk.handle_frame(&frame);
    assert!(talk.is_live());
    talk
}

/// Returns true if the session is resumed after a live conversation ended this way.
fn goes_on(ended: ConnectionEnd) -> bool {
    let mut course = course();
    let talk = live(&course);
    assert_eq!(course.record_end(&talk, ended), None, "{ended:?}");
    course.next_session().cursor().is_some()
}

// F40
#[test]
fn a_session_goes_on_unless_it_was_declared_dead() {
    let on = [
        ConnectionEnd::Reconnect,
        ConnectionEnd::Invalid { is_resumable: true },
        ConnectionEnd::Zombie,
        ConnectionEnd::Gap,
        ConnectionEnd::NotReached,
        ConnectionEnd::Closed(None),
        ConnectionEnd::Closed(Some(1000)),
        ConnectionEnd::Closed(Some(1006)),
        ConnectionEnd::Closed(Some(4000)),
        ConnectionEnd::Closed(Some(4008)),
        ConnectionEnd::Closed(Some(4999)),
    ];
    for ended in on {
        assert!(goes_on(ended), "{ended:?}");
    }
    let dead = [
        ConnectionEnd::Invalid { is_resumable: false },
        ConnectionEnd::Closed(Some(4003)),
        ConnectionEnd::Closed(Some(4007)),
        ConnectionEnd::Closed(Some(4009)),
    ];
    for ended in dead {
        assert!(!goes_on(ended), "{ended:?}");
    }
}

#[test]
fn some_codes_are_the_end() {
    let fatal = |code| {
        let mut course = course();
        let talk = course.next_session();
        course.record_end(&talk, ConnectionEnd::Closed(Some(code)))
    };
    assert_eq!(fatal(4004), Some(FatalClose::KeyRejected));
    for code in [4010, 4011] {
        assert_eq!(fatal(code), Some(FatalClose::TooFewSockets), "{code}");
    }
    for code in [4012, 4013, 4014] {
        assert!(matches!(fatal(code), Some(FatalClose::Barred(_))), "{code}");
    }
    let Some(FatalClose::Barred(why)) = fatal(4014) else { panic!() };
    assert!(why.contains("message content intent"), "{why}");
    for code in [1000, 1001, 4000, 4001, 4002, 4003, 4005, 4007, 4008, 4009, 5000] {
        assert_eq!(fatal(code), None, "{code}");
    }
}

#[test]
fn a_dead_address_is_tried_once_and_a_dead_session_three_times() {
    let mut course = course();
    assert_eq!(course.url(), "wss://resume");
    let mut tried = Vec::new();
    for _ in 0..4 {
        let talk = course.next_session();
        tried.push((course.url().to_owned(), talk.cursor().is_some()));
        course.record_end(&talk, ConnectionEnd::NotReached);
    }
    let main = |resumes| (MAIN.to_owned(), resumes);
    assert_eq!(tried, [("wss://resume".to_owned(), true), main(true), main(true), main(false)]);
}

#[test]
fn a_session_that_was_lost_is_remembered_to_have_been() {
    let mut course = course();
    let talk = live(&course);
    course.record_end(&talk, ConnectionEnd::Invalid { is_resumable: false });
    let mut next = course.next_session();
    next.handle_frame(r#"{"op":10,"d":{"heartbeat_interval":1000}}"#);
    let told = next.handle_frame(
        r#"{"op":0,"t":"READY","s":1,"d":{"session_id":"s2","resume_gateway_url":"wss://two"}}"#,
    );
    let [super::super::session::GatewayEffect::Tell(told)] = &told[..] else { panic!() };
    assert!(told.is_after_gap);
    course.record_end(&next, ConnectionEnd::Reconnect);
    assert_eq!(course.url(), "wss://two");
}

#[test]
fn it_waits_longer_the_less_it_works_and_no_longer_when_it_does() {
    let mut course = course();
    assert_eq!(course.reconnect_delay(), Duration::ZERO);
    let mut waits = Vec::new();
    for _ in 0..8 {
        let talk = course.next_session();
        course.record_end(&talk, ConnectionEnd::NotReached);
        waits.push(course.reconnect_delay().as_secs());
    }
    assert_eq!(waits, [1, 2, 4, 8, 16, 30, 30, 30]);
    let talk = live(&course);
    course.record_end(&talk, ConnectionEnd::Reconnect);
    assert_eq!(course.reconnect_delay(), AGAIN_MIN);
}

#[test]
fn new_sessions_are_not_begun_one_right_after_the_other() {
    let mut course = ReconnectState::new(MAIN.to_owned(), None, false);
    course.record_identify();
    let talk = live(&course);
    course.record_end(&talk, ConnectionEnd::Invalid { is_resumable: false });
    assert!(course.reconnect_delay() >= IDENTIFY_EVERY);
    let mut other = self::course();
    let talk = live(&other);
    other.record_end(&talk, ConnectionEnd::Invalid { is_resumable: false });
    assert!(other.reconnect_delay() >= ANEW_MIN);
}

#[test]
fn an_address_that_is_less_safe_is_not_dialled() {
    for url in ["ws://resume", "http://resume", "resume", ""] {
        let session = SessionCursor { url: url.to_owned(), ..at(5) };
        assert_eq!(ReconnectState::new(MAIN.to_owned(), Some(session), false).url(), MAIN, "{url}");
    }
}

#[test]
fn what_is_missing_in_a_replay_is_asked_for_once() {
    let mut course = course();
    let mut talk = course.next_session();
    let replay = |talk: &mut GatewaySession| {
        talk.handle_frame(r#"{"op":10,"d":{"heartbeat_interval":1000}}"#);
        talk.handle_frame(r#"{"op":0,"t":"X","s":6,"d":{}}"#);
        talk.handle_frame(r#"{"op":0,"t":"X","s":9,"d":{}}"#)
    };
    assert_eq!(replay(&mut talk), [super::super::session::GatewayEffect::Over(ConnectionEnd::Gap)]);
    course.record_end(&talk, ConnectionEnd::Gap);

    let mut again = course.next_session();
    let [super::super::session::GatewayEffect::Tell(told)] = &replay(&mut again)[..] else {
        panic!()
    };
    assert!(told.is_after_gap);
}

#[test]
fn a_session_that_is_told_bit_by_bit_is_not_given_up() {
    let mut course = course();
    for seq in 6..20 {
        let mut talk = course.next_session();
        talk.handle_frame(r#"{"op":10,"d":{"heartbeat_interval":1000}}"#);
        talk.handle_frame(&format!(r#"{{"op":0,"t":"X","s":{seq},"d":{{}}}}"#));
        assert_eq!(course.record_end(&talk, ConnectionEnd::Closed(None)), None);
        assert_eq!(course.next_session().cursor().map(|session| session.seq), Some(seq));
    }
}
