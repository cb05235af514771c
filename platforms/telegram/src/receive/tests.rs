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
    match telegram().receive(bot, &SignedRequest { headers: &headers, body })? {
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
