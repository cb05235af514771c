use super::*;
use crate::tests::{bot, keyed, other_bot};

const NOW: Timestamp = Timestamp::constant(1_795_000_000, 0);

fn at(secs: i64) -> Timestamp {
    Timestamp::from_second(NOW.as_second() + secs).unwrap()
}

fn session_of(bot: &Bot, cookie: &str, now: Timestamp) -> Option<VisitorSession> {
    let headers = [(COOKIE, cookie.parse().unwrap())].into_iter().collect();
    VisitorSession::from_request(bot, &headers, now)
}

fn cookie(value: &str) -> String {
    format!("{COOKIE_NAME}={value}")
}

#[test]
fn a_visitor_is_known_by_the_cookie_they_were_given() {
    let session = VisitorSession::new(NOW);
    let value = session.cookie_value(&bot()).unwrap();

    assert_eq!(session_of(&bot(), &cookie(&value), NOW), Some(session.clone()));
    let among_others = format!("a=b; {COOKIE_NAME}=old.1.00;  {}", cookie(&value));
    assert_eq!(session_of(&bot(), &among_others, NOW), Some(session));
}

#[test]
fn two_visitors_are_never_the_same() {
    assert_ne!(VisitorSession::new(NOW).visitor, VisitorSession::new(NOW).visitor);
    assert!(is_visitor(&VisitorSession::new(NOW).visitor));
}

#[test]
fn what_the_key_did_not_sign_is_nobody() {
    let good = VisitorSession::new(NOW).cookie_value(&bot()).unwrap();
    let (signed, signature) = good.rsplit_once('.').unwrap();
    let (visitor, issued) = signed.split_once('.').unwrap();
    let another = VisitorSession::new(NOW).visitor;
    let of = |bot: &Bot| VisitorSession::new(NOW).cookie_value(bot).unwrap();
    let cases = [
        ("empty", String::new()),
        ("no signature", signed.to_owned()),
        ("an empty signature", format!("{signed}.")),
        ("a cut signature", good[..good.len() - 2].to_owned()),
        ("not hex", format!("{signed}.{}", "z".repeat(64))),
        ("zeroes", format!("{signed}.{}", "0".repeat(64))),
        ("another visitor", format!("{another}.{issued}.{signature}")),
        ("another time", format!("{visitor}.{}.{signature}", NOW.as_second() + 1)),
        ("moved dots", format!("{visitor}{issued}..{signature}")),
        ("another key's", of(&keyed("other"))),
        ("the same key at another bot", of(&other_bot())),
        ("an empty key's", of(&keyed(""))),
    ];
    for (name, value) in cases {
        assert_eq!(session_of(&bot(), &cookie(&value), NOW), None, "{name}");
    }
}

#[test]
fn a_bot_without_a_key_knows_nobody() {
    let keyless = Bot { key: None, ..bot() };
    let value = VisitorSession::new(NOW).cookie_value(&keyed("")).unwrap();

    assert_eq!(VisitorSession::new(NOW).cookie_value(&keyless), None);
    assert_eq!(session_of(&keyless, &cookie(&value), NOW), None);
}

#[test]
fn a_session_ends_after_its_days() {
    let value = cookie(&VisitorSession::new(NOW).cookie_value(&bot()).unwrap());
    let last = CHAT_SESSION_DAYS * DAY_SECS - 1;

    assert!(session_of(&bot(), &value, at(last)).is_some());
    assert!(session_of(&bot(), &value, at(last + 1)).is_none());
    assert!(session_of(&bot(), &value, at(-DAY_SECS)).is_some(), "a clock a little behind");
    assert!(session_of(&bot(), &value, at(-DAY_SECS - 1)).is_none());
}

#[test]
fn who_comes_again_is_known_for_longer() {
    let session = VisitorSession::new(NOW);

    assert!(!session.is_to_be_renewed(at(DAY_SECS)));
    assert!(session.is_to_be_renewed(at(DAY_SECS + 1)));
    let renewed = session.renew(at(DAY_SECS + 1));
    assert_eq!(renewed.visitor, session.visitor);
    assert!(!renewed.is_to_be_renewed(at(DAY_SECS + 1)));
}

#[test]
fn the_cookie_is_for_one_page_and_no_script() {
    let session = VisitorSession::new(NOW);
    let plain = session.set_cookie(&bot(), "p4th", "http://127.0.0.1:8800").unwrap();
    let (_, flags) = plain.split_once("; ").unwrap();

    assert_eq!(flags, "Path=/chat/p4th; Max-Age=15552000; HttpOnly; SameSite=Lax");
    let secure = session.set_cookie(&bot(), "p4th", "https://desk.example.org").unwrap();
    assert!(secure.ends_with("; SameSite=Lax; Secure"));
}

#[test]
fn a_key_that_was_replaced_is_believed_and_its_cookie_said_again() {
    let session = VisitorSession::new(NOW);
    let value = cookie(&session.cookie_value(&keyed("old")).unwrap());
    let replaced = Bot { former_keys: keyed("old").key.into_iter().collect(), ..keyed("new") };

    let known = session_of(&replaced, &value, NOW).unwrap();
    assert_eq!(known.visitor, session.visitor);
    assert!(known.is_to_be_renewed(NOW), "before the old key ends");
    assert_eq!(session_of(&keyed("new"), &value, NOW), None, "after it has ended");
    let renewed = cookie(&known.renew(NOW).cookie_value(&replaced).unwrap());
    assert!(!session_of(&replaced, &renewed, NOW).unwrap().is_to_be_renewed(NOW));
}
