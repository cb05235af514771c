use super::*;

async fn after(fault: Fault) -> Result<Receipt, DeliverError> {
    let fake = fake().await;
    fake.misbehave(fault);
    deliver(&fake, &to(ANN, text("hello"))).await
}

fn at(kind: Kind) -> Fault {
    Fault::at("sendMessage", 1, kind)
}

#[tokio::test]
async fn a_rate_limit_says_when_to_come_again() {
    for (secs, fault) in [
        (7, Fault::too_many("sendMessage", 1, 7)),
        (1, Fault::refuse("sendMessage", 1, 429, "Too Many Requests")),
    ] {
        let got = after(fault).await;
        let Err(DeliverError::RateLimited { retry_after }) = got else { panic!("{got:?}") };
        assert_eq!(retry_after, Duration::from_secs(secs));
    }
}

#[tokio::test]
async fn a_no_is_told_in_a_word_of_ours() {
    let cases = [
        (403, "Forbidden: bot was blocked by the user", "blocked_by_user"),
        (403, "Forbidden: bot was kicked from the supergroup chat", "not_a_member"),
        (403, "Forbidden: user is deactivated", "user_deactivated"),
        (403, "Forbidden: something of next year", "403"),
        (400, "Bad Request: chat not found", "chat_not_found"),
        (400, "Bad Request: group chat was upgraded to a supergroup chat", "chat_migrated"),
        (400, "Bad Request: TOPIC_CLOSED", "thread_closed"),
        (400, "Bad Request: you said hello", "400"),
        (413, "Request Entity Too Large", "413"),
    ];
    for (status, description, code) in cases {
        let got = after(Fault::refuse("sendMessage", 1, status, description)).await;
        let Err(DeliverError::Refused { platform_code }) = got else { panic!("{got:?}") };
        assert_eq!(platform_code, code, "{description}");
    }
}

#[tokio::test]
async fn a_rejected_key_is_told_from_a_refused_message() {
    for (status, said) in [(401, "Unauthorized"), (404, "Not Found")] {
        let got = after(Fault::refuse("sendMessage", 1, status, said)).await;
        assert!(matches!(got, Err(DeliverError::KeyRejected)), "{status}: {got:?}");
    }
    let fake = fake().await;
    for key in [None, Some(""), Some("4242"), Some(":x"), Some("42:a/../../b"), Some("x:y")] {
        let key = key.map(|key| nightdesk_vault::Key::new(key.to_owned()));
        let keyless = Bot { key, ..bot() };
        let telegram = telegram_at(&fake.url());
        let got = telegram.deliver(&keyless, &to(ANN, text("hello"))).await;
        assert!(matches!(got, Err(DeliverError::KeyRejected)), "{got:?}");
    }
    assert_eq!(fake.calls(), [], "nobody was asked");
}

#[tokio::test]
async fn what_went_out_and_was_not_answered_is_ambiguous() {
    let cases = [
        ("server error", Fault::refuse("sendMessage", 1, 500, "Internal Server Error")),
        ("bad gateway", Fault::refuse("sendMessage", 1, 502, "Bad Gateway")),
        ("hung up", at(Kind::HangUp)),
        ("done and hung up", at(Kind::DoAndHangUp)),
        ("no answer of Telegram's", at(Kind::Garbage)),
    ];
    for (name, fault) in cases {
        let got = after(fault).await;
        assert!(matches!(got, Err(DeliverError::Ambiguous(_))), "{name}: {got:?}");
    }
}

#[tokio::test]
async fn a_platform_that_is_not_there_did_nothing() {
    let got = crate::tests::telegram().deliver(&bot(), &to(ANN, text("hello"))).await;
    assert!(matches!(got, Err(DeliverError::Unavailable(_))), "{got:?}");
}

#[tokio::test]
async fn nothing_is_asked_for_nothing() {
    let fake = fake().await;
    let odd_chat = Send { chat_id: "@somebody".to_owned(), ..to(ANN, text("hi")) };
    let odd_message = to(ANN, Op::Delete { message_id: "m1".to_owned() });
    let void = to(ANN, text(" \n\0"));
    for (send, code) in
        [(odd_chat, "chat_not_found"), (odd_message, "message_not_found"), (void, "empty")]
    {
        let got = deliver(&fake, &send).await;
        let Err(DeliverError::Refused { platform_code }) = got else { panic!("{got:?}") };
        assert_eq!(platform_code, code);
    }
    assert_eq!(fake.calls(), []);
}
