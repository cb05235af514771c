use http::HeaderValue;
use nightdesk_types::event::Draft;

use super::*;
use crate::tests::{bot, telegram};

const UPDATE: &str = include_str!("../../fixtures/message_private.json");

fn shown(bot: &Bot) -> String {
    webhook_secret(bot).unwrap().with(str::to_owned)
}

fn received(
    bot: &Bot,
    shown: &[&str],
    body: &[u8],
) -> Result<Vec<Result<Draft, ReceiveError>>, ReceiveError> {
    let mut headers = HeaderMap::new();
    for secret in shown {
        headers.append(SECRET_HEADER, HeaderValue::from_str(secret).unwrap());
    }
    match telegram().receive(bot, &SignedRequest::post(&headers, body))? {
        RequestContent::Events(events) => Ok(events),
        RequestContent::Bearing(..) | RequestContent::Challenge(_) => panic!("Telegram only tells"),
    }
}

#[test]
fn an_update_is_read_if_it_shows_the_secret() {
    let events = received(&bot(), &[&shown(&bot())], UPDATE.as_bytes()).unwrap();

    assert_eq!(events.len(), 1);
    assert!(events[0].is_ok());
}

// T05
#[test]
fn reads_nothing_without_the_secret() {
    let good = shown(&bot());
    let other = Bot { key: Some(Key::new("4242:other".to_owned())), ..bot() };
    let cut = &good[..good.len() - 1];
    let cases: [(&str, &[&str]); 7] = [
        ("none", &[]),
        ("an empty one", &[""]),
        ("another bot's", &[&shown(&other)]),
        ("cut short", &[cut]),
        ("the key itself", &[crate::tests::TOKEN]),
        ("doubled", &[&good, &good]),
        ("beside a wrong one", &["wrong", &good]),
    ];
    for (name, shown) in cases {
        // If the body had been parsed, the result would be `Unreadable`.
        let got = received(&bot(), shown, b"not json");
        assert_eq!(got, Err(ReceiveError::BadSignature), "{name}");
    }
    let keyless = Bot { key: None, ..bot() };
    assert_eq!(received(&keyless, &[&good], b"{}"), Err(ReceiveError::BadSignature));
}

#[test]
fn the_secret_of_a_key_that_was_replaced_is_still_believed() {
    let new = Key::new("4242:new".to_owned());
    let both = Bot { former_keys: bot().key.into_iter().collect(), key: Some(new), ..bot() };

    assert!(received(&both, &[&shown(&bot())], UPDATE.as_bytes()).is_ok());
    assert!(received(&both, &[&shown(&both)], UPDATE.as_bytes()).is_ok());
    assert_ne!(shown(&both), shown(&bot()));
}

#[test]
fn a_secret_is_one_that_telegram_takes() {
    let secret = shown(&bot());

    assert!((1..=256).contains(&secret.len()));
    assert!(secret.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-'));
    assert!(!secret.contains("canary"));
}

#[test]
fn what_is_authentic_and_unreadable_is_said_to_be() {
    let got = received(&bot(), &[&shown(&bot())], b"not json").unwrap();
    assert_eq!(got, [Err(ReceiveError::Unreadable)]);
}

// T09: the bytes that carry the secret are the bytes that are read, in one way.
#[test]
fn an_update_that_parsers_read_differently_is_unreadable() {
    let read = |body: &[u8]| received(&bot(), &[&shown(&bot())], body).unwrap();
    let doubled =
        UPDATE.replacen("\"chat\":", "\"chat\": {\"id\": 1, \"type\": \"private\"}, \"chat\":", 1);
    let escaped = doubled.replacen("\"chat\":", "\"\\u0063hat\":", 1);
    let unknown = UPDATE.replacen('{', "{\"new\": {\"a\": 1, \"a\": 2}, ", 1);
    let marked = format!("\u{feff}{UPDATE}");
    let exponent = UPDATE.replacen("\"update_id\":", "\"new\": 1e999, \"update_id\":", 1);
    assert!(doubled != UPDATE && escaped != doubled && unknown != UPDATE && exponent != UPDATE);

    for body in [&doubled, &escaped, &unknown, &marked, &exponent] {
        assert_eq!(read(body.as_bytes()), [Err(ReceiveError::Unreadable)], "{body}");
    }
    assert!(read(UPDATE.as_bytes())[0].is_ok());
}

// T09
#[test]
fn a_number_is_read_as_it_is_written() {
    let update: serde_json::Value = serde_json::from_str(UPDATE).unwrap();
    let chat = |id: &str| {
        let mut update = update.clone();
        update["message"]["chat"]["id"] = "the id".into();
        let body = update.to_string().replacen("\"the id\"", id, 1);
        let mut events = received(&bot(), &[&shown(&bot())], body.as_bytes()).unwrap();
        events.remove(0).map(|draft| draft.source.chat_id)
    };

    // A reader with floating-point numbers would take both for one chat.
    assert_eq!(chat("9007199254740992").as_deref(), Ok("9007199254740992"));
    assert_eq!(chat("9007199254740993").as_deref(), Ok("9007199254740993"));
    for odd in ["9007199254740993.0", "9e15", "9223372036854775808", "1e2", "-0.0"] {
        assert_eq!(chat(odd), Err(ReceiveError::Unreadable), "{odd}");
    }
}
