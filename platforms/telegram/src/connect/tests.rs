use nightdesk_fake_telegram::{FakeTelegram, Fault, Kind};

use super::*;
use crate::tests::{TOKEN, bot, telegram_at};

fn key() -> Key {
    Key::new(TOKEN.to_owned())
}

#[tokio::test]
async fn updates_are_posted_or_kept_as_told() {
    let fake = FakeTelegram::open().await;
    fake.bot(TOKEN, "desk_bot");
    let telegram = telegram_at(&fake.url());
    let new = TelegramBotSetup {
        username: "desk_bot".to_owned(),
        hears_all: false,
        webhook: None,
        pending: 0,
        last_error: None,
    };
    assert_eq!(telegram.read_bot_setup(&key()).await.unwrap(), new);

    let url = "http://127.0.0.1:1/hooks/x";
    telegram.set_webhook(&bot(), url).await.unwrap();
    let secret = webhook_secret(&bot()).unwrap().with(str::to_owned);
    assert_eq!(fake.calls().last().unwrap().asked["secret_token"], json!(secret));
    assert_eq!(telegram.read_bot_setup(&key()).await.unwrap().webhook.as_deref(), Some(url));
    telegram.delete_webhook(&bot()).await.unwrap();
    assert_eq!(telegram.read_bot_setup(&key()).await.unwrap(), new);
}

#[tokio::test]
async fn a_bad_token_is_told_from_a_bad_day() {
    let fake = FakeTelegram::open().await;
    let telegram = telegram_at(&fake.url());
    let strange = telegram.read_bot_setup(&key()).await;
    assert!(matches!(strange, Err(ConnectError::KeyRejected)), "{strange:?}");

    fake.bot(TOKEN, "desk_bot");
    fake.misbehave(Fault::at("getMe", 1, Kind::HangUp));
    let away = telegram.read_bot_setup(&key()).await;
    assert!(matches!(away, Err(ConnectError::Unavailable(_))), "{away:?}");
    fake.misbehave(Fault::refuse(
        "setWebhook",
        1,
        400,
        "Bad Request: bad webhook: HTTPS url must be provided",
    ));
    let refused = telegram.set_webhook(&bot(), "http://a.b").await;
    assert!(matches!(refused, Err(ConnectError::Refused(code)) if code == "400"));
}

#[tokio::test]
async fn whether_posts_come_through_is_what_telegram_says() {
    let fake = FakeTelegram::open().await;
    fake.bot(TOKEN, "desk_bot");
    let telegram = telegram_at(&fake.url());
    let nowhere = telegram.probe(&bot()).await;
    assert!(matches!(nowhere, Err(ListenError::Elsewhere)), "{nowhere:?}");

    telegram.set_webhook(&bot(), "http://127.0.0.1:1/hooks/x").await.unwrap();
    let posting = telegram.probe(&bot()).await.unwrap();
    assert_eq!(posting, WebhookStatus { waiting: 0, failed_ago: None });
    fake.says(TOKEN, 900, "hello?");
    let mut posting = telegram.probe(&bot()).await.unwrap();
    while posting.failed_ago.is_none() {
        posting = telegram.probe(&bot()).await.unwrap();
    }
    assert_eq!(posting.waiting, 1);
    fake.misbehave(Fault::refuse("getWebhookInfo", 1, 401, "Unauthorized"));
    let keyless = telegram.probe(&bot()).await;
    assert!(matches!(keyless, Err(ListenError::KeyRejected)), "{keyless:?}");
}
