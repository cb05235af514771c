use std::sync::Arc;

use nightdesk_fake_telegram::{FakeTelegram, Fault, Kind};
use nightdesk_port::ReceiveError;
use nightdesk_testkit::FakeClock;

use super::*;
use crate::tests::{TOKEN, bot, telegram};

struct Stage {
    fake: FakeTelegram,
    clock: FakeClock,
    telegram: Telegram,
}

async fn stage() -> Stage {
    let (fake, clock) = (FakeTelegram::open().await, FakeClock::default());
    fake.bot(TOKEN, "desk_bot");
    let telegram = Telegram::open(&fake.url(), Arc::new(clock.clone())).unwrap();
    Stage { fake, clock, telegram }
}

impl Stage {
    async fn listen(&self, cursor: Option<&str>) -> Vec<PlatformEvent> {
        self.telegram.listen(&bot(), cursor).await.unwrap()
    }

    /// Returns the number of the last request.
    fn asked_for(&self) -> Option<i64> {
        self.fake.calls().last().unwrap().asked.get("offset").and_then(serde_json::Value::as_i64)
    }
}

fn texts(heard: &[PlatformEvent]) -> Vec<String> {
    let text = |heard: &PlatformEvent| {
        let draft = heard.event.as_ref().unwrap().as_ref().unwrap();
        let nightdesk_types::event::Content::Message(message) = &draft.content else { panic!() };
        message.text.clone()
    };
    heard.iter().map(text).collect()
}

fn told(updates: &str) -> Vec<Box<RawValue>> {
    serde_json::from_str(updates).unwrap()
}

const NOW: Timestamp = Timestamp::UNIX_EPOCH;

#[tokio::test]
async fn nothing_is_confirmed_that_was_not_asked_beyond() {
    let stage = stage().await;
    for text in ["one", "two"] {
        stage.fake.says(TOKEN, 900, text);
    }

    let heard = stage.listen(None).await;
    assert_eq!(texts(&heard), ["one", "two"]);
    assert_eq!(stage.asked_for(), None);
    assert_eq!(texts(&stage.listen(None).await), ["one", "two"], "nobody stored them");
    assert_eq!(texts(&stage.listen(Some(&heard[0].cursor)).await), ["two"]);
    assert_eq!(stage.asked_for(), Some(2));
    assert_eq!(stage.fake.pending(TOKEN), 1);
}

// F41
#[tokio::test]
async fn numbers_that_begin_anew_are_followed() {
    let stage = stage().await;
    stage.fake.renumber(TOKEN, 700_000);
    stage.fake.says(TOKEN, 900, "before");
    let before = stage.listen(None).await.pop().unwrap().cursor;
    stage.fake.renumber(TOKEN, 3);
    stage.fake.says(TOKEN, 900, "after");

    let after = stage.listen(Some(&before)).await;
    assert_eq!(texts(&after), ["before", "after"]);
    stage.fake.says(TOKEN, 900, "later");
    let later = stage.listen(Some(&after[1].cursor)).await;
    assert_eq!(texts(&later).last().map(String::as_str), Some("later"));
    assert_eq!(stage.asked_for(), Some(4), "it goes on from the new ones");
}

#[tokio::test]
async fn an_old_number_is_not_asked_for() {
    let stage = stage().await;
    stage.fake.says(TOKEN, 900, "one");
    let cursor = stage.listen(None).await.pop().unwrap().cursor;
    stage.fake.says(TOKEN, 900, "two");

    stage.clock.let_pass(NUMBER_GOOD_FOR.saturating_sub(Duration::from_secs(1)));
    stage.listen(Some(&cursor)).await;
    assert_eq!(stage.asked_for(), Some(2));
    stage.clock.let_pass(Duration::from_secs(1));
    stage.listen(Some(&cursor)).await;
    assert_eq!(stage.asked_for(), None);
}

#[test]
fn one_odd_update_spoils_no_other() {
    let told = told(
        r#"[
            {"update_id": 5, "message": {"message_id": 1, "date": 1, "chat": {"id": 1, "type": "private"}, "from": {"id": 1}, "text": "a"}},
            {"update_id": 6, "message": {"message_id": 2, "chat": {"id": 1, "type": "private"}, "text": "\ud83d"}},
            {"update_id": 7, "something_of_next_year": {}},
            {"message": 7},
            {"update_id": 8, "message": {"message_id": 3, "date": 1, "chat": {"id": 1, "type": "private"}, "from": {"id": 1}, "text": "b"}}
        ]"#,
    );
    let heard = convert_updates(&bot(), &told, NOW).unwrap();

    let said: Vec<_> =
        heard.iter().map(|heard| heard.event.as_ref().map(Option::is_some)).collect();
    let unreadable = Err(&ReceiveError::Unreadable);
    assert_eq!(said, [Ok(true), unreadable, Ok(false), unreadable, Ok(true)]);
    let cursors: Vec<_> = heard.iter().map(|heard| heard.cursor.as_str()).collect();
    assert_eq!(cursors, ["6@0", "7@0", "8@0", "8@0", "9@0"]);
}

#[test]
fn updates_without_numbers_are_none() {
    assert!(convert_updates(&bot(), &told("[]"), NOW).unwrap().is_empty());
    let odd = convert_updates(&bot(), &told(r#"[{}, 7, {"update_id": "x"}]"#), NOW);
    assert!(matches!(odd, Err(ListenError::Unavailable(_))));
}

#[tokio::test]
async fn what_telegram_says_instead_is_told_apart() {
    let cases = [
        ("two pollers", Fault::refuse("getUpdates", 1, 409, "Conflict: …"), "elsewhere"),
        ("too often", Fault::too_many("getUpdates", 1, 7), "limited 7"),
        ("a bad key", Fault::refuse("getUpdates", 1, 401, "Unauthorized"), "keyless"),
        ("no such bot", Fault::refuse("getUpdates", 1, 404, "Not Found"), "keyless"),
        ("server error", Fault::refuse("getUpdates", 1, 502, "Bad Gateway"), "unavailable"),
        ("hung up", Fault::at("getUpdates", 1, Kind::HangUp), "unavailable"),
        ("garbage", Fault::at("getUpdates", 1, Kind::Garbage), "unavailable"),
    ];
    for (name, fault, want) in cases {
        let stage = stage().await;
        stage.fake.misbehave(fault);
        assert_eq!(word(&stage.telegram.listen(&bot(), None).await), want, "{name}");
    }
    assert_eq!(word(&telegram().listen(&bot(), None).await), "unavailable", "nobody is there");
}

fn word(heard: &Result<Vec<PlatformEvent>, ListenError>) -> String {
    match heard {
        Ok(_) => "heard".to_owned(),
        Err(ListenError::Elsewhere) => "elsewhere".to_owned(),
        Err(ListenError::RateLimited { retry_after }) => {
            format!("limited {}", retry_after.as_secs())
        }
        Err(ListenError::KeyRejected) => "keyless".to_owned(),
        Err(ListenError::Barred { reason }) => (*reason).to_owned(),
        Err(ListenError::Unavailable(_)) => "unavailable".to_owned(),
    }
}

#[test]
fn a_cursor_is_read_as_it_was_written() {
    let cursor = UpdateCursor { next: -7, since: NOW };
    assert_eq!(UpdateCursor::parse(&cursor.to_text()), Some(cursor));
    for odd in ["", "7", "@", "x@1", "1@x", "1@99999999999999999"] {
        assert_eq!(UpdateCursor::parse(odd), None, "{odd}");
    }
}

#[test]
fn who_is_told_by_webhook_is_not_asked() {
    use nightdesk_port::Platform;

    for (settings, listens) in [
        (json!({}), true),
        (json!({ "updates": "poll" }), true),
        (json!({ "updates": "webhook" }), false),
    ] {
        let bot = Bot { settings, ..bot() };
        assert_eq!(telegram().listener(&bot).is_some(), listens);
    }
}
