use std::sync::Arc;
use std::time::Duration;

use nightdesk_testkit::FakeClock;

use super::*;
use crate::tests::open;

/// Returns a short name of a result.
fn word(result: Result<Receipt, DeliverError>) -> String {
    match result {
        Ok(_) => "done".to_owned(),
        Err(DeliverError::RateLimited { retry_after }) => {
            format!("rate limited {}", retry_after.as_millis())
        }
        Err(DeliverError::Unavailable(_)) => "unavailable".to_owned(),
        Err(DeliverError::Ambiguous(_)) => "ambiguous".to_owned(),
        Err(DeliverError::Refused { platform_code }) => platform_code,
        Err(DeliverError::KeyRejected) => "key rejected".to_owned(),
        Err(DeliverError::Unsupported) => "unsupported".to_owned(),
        Err(DeliverError::FileGone) => "file gone".to_owned(),
    }
}

#[tokio::test]
async fn a_no_means_this() {
    let no = |code: u32| json!({ "code": code, "message": "no" });
    let cases = [
        (401, "", no(0), "key rejected"),
        (403, "", no(50_013), "50013"),
        (403, "", no(50_001), "50001"),
        (404, "", no(10_003), "10003"),
        (400, "", json!("odd"), "400"),
        (429, "", json!({ "retry_after": 0.5, "global": false }), "rate limited 500"),
        (429, "retry-after: 7\r\n", json!("from a proxy"), "rate limited 7000"),
        (429, "", json!({}), "rate limited 1000"),
        (500, "", no(0), "ambiguous"),
        (502, "", json!("bad gateway"), "ambiguous"),
        (200, "", json!("not a message"), "ambiguous"),
        (302, "location: http://127.0.0.1:1/\r\n", json!({}), "ambiguous"),
    ];
    for (status, headers, body, want) in cases {
        let stub = Stub::open().await;
        stub.answer_with(status, headers, body);
        let sent = discord_at(&stub.url).deliver(&bot(), &to(CHANNEL, text("hi"))).await;
        assert_eq!(word(sent), want, "{status}");
        assert_eq!(stub.asked().len(), 1, "{status}: it is never repeated");
    }
}

#[tokio::test]
async fn what_was_not_sent_is_told_from_what_may_have_been() {
    let nowhere = discord_at("http://127.0.0.1:1");
    assert_eq!(word(nowhere.deliver(&bot(), &to(CHANNEL, text("hi"))).await), "unavailable");
    let stub = Stub::open().await;
    stub.hang_up();
    let sent = discord_at(&stub.url).deliver(&bot(), &to(CHANNEL, text("hi"))).await;
    assert_eq!(word(sent), "ambiguous");
    for key in [None, Some(Key::new(String::new())), Some(Key::new("a\r\nb".to_owned()))] {
        let keyless = Bot { key, ..bot() };
        let sent = nowhere.deliver(&keyless, &to(CHANNEL, text("hi"))).await;
        assert_eq!(word(sent), "key rejected");
    }
}

#[tokio::test]
async fn what_would_be_too_often_is_not_asked() {
    let stub = Stub::open().await;
    let clock = FakeClock::default();
    let discord = open(&stub.url, Arc::new(clock.clone())).unwrap();
    let say = async |channel: &str| word(discord.deliver(&bot(), &to(channel, text("hi"))).await);
    let none_left = "x-ratelimit-remaining: 0\r\nx-ratelimit-reset-after: 2.5\r\n";
    stub.answer_with(200, none_left, json!({ "id": "1" }));
    assert_eq!(say("500").await, "done");

    assert_eq!(say("500").await, "rate limited 2500");
    assert_eq!(stub.asked().len(), 1, "it was not asked");
    assert_eq!(say("501").await, "done", "another channel is counted by itself");
    clock.let_pass(Duration::from_millis(2_500));
    assert_eq!(say("500").await, "done");

    stub.answer(429, json!({ "retry_after": 3.0, "global": true }));
    assert_eq!(say("500").await, "rate limited 3000");
    assert_eq!(say("501").await, "rate limited 3000", "it was said of all");
    let other = Bot { id: nightdesk_types::BotId::from_uuid(uuid::Uuid::from_u128(9)), ..bot() };
    assert_eq!(word(discord.deliver(&other, &to("500", text("hi"))).await), "done");
}

#[tokio::test]
async fn what_is_gone_is_deleted() {
    let stub = Stub::open().await;
    stub.answer(404, json!({ "code": 10_008 }));
    let gone = Op::Delete { message_id: "1".to_owned() };
    assert_eq!(word(discord_at(&stub.url).deliver(&bot(), &to(CHANNEL, gone)).await), "done");
}

#[test]
fn an_address_that_is_none_is_refused() {
    for url in ["", "discord.com", "ftp://discord.com", "https://discord.com?x=1"] {
        assert!(open(url, Arc::new(FakeClock::default())).is_err(), "{url}");
    }
}
