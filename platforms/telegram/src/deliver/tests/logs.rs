use nightdesk_port::{Receive, SignedRequest};
use nightdesk_testkit::logs::{Log, chain};

use super::*;

/// A text that must not be in any log. It is also part of the bot's key.
const CANARY: &str = "canary";

/// Returns the error texts of failed calls.
async fn sung() -> String {
    let mut errors = String::new();
    let says_it_again = format!("Bad Request: you said {CANARY}");
    let faults = [
        Fault::refuse("sendMessage", 1, 400, &says_it_again),
        Fault::refuse("sendMessage", 1, 403, &says_it_again),
        Fault::refuse("sendMessage", 1, 404, &says_it_again),
        Fault::refuse("sendMessage", 1, 429, &says_it_again),
        Fault::refuse("sendMessage", 1, 500, &says_it_again),
        Fault::at("sendMessage", 1, Kind::HangUp),
        Fault::at("sendMessage", 1, Kind::DoAndHangUp),
        Fault::at("sendMessage", 1, Kind::Garbage),
    ];
    for fault in faults {
        let fake = fake().await;
        fake.misbehave(fault);
        errors += &chain(&deliver(&fake, &to(ANN, text(CANARY))).await.unwrap_err());
    }
    let nowhere = crate::tests::telegram();
    errors += &chain(&nowhere.deliver(&bot(), &to(ANN, text(CANARY))).await.unwrap_err());
    [errors, format!("{nowhere:?} {:?}", bot()), unread()].concat()
}

/// Returns the error texts of rejected webhook requests.
fn unread() -> String {
    let secret = crate::webhook_secret(&bot()).unwrap().with(str::to_owned);
    let said = [secret.as_str(), CANARY].map(|shown| {
        let headers = [(crate::SECRET_HEADER.parse().unwrap(), shown.parse().unwrap())];
        let headers = headers.into_iter().collect();
        let body = format!(r#"{{"update_id": 1, "message": "{CANARY}"}}"#);
        let request = SignedRequest::post(&headers, body.as_bytes());
        format!("{:?}", crate::tests::telegram().receive(&bot(), &request))
    });
    said.concat()
}

#[tokio::test]
async fn no_word_and_no_key_is_in_a_log_or_an_error() {
    let logged = Log::default();
    let writer = logged.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing_subscriber::filter::LevelFilter::TRACE)
        .with_writer(move || writer.clone())
        .finish();
    let guard = tracing_subscriber::util::SubscriberInitExt::set_default(subscriber);

    let errors = sung().await;
    drop(guard);
    let logs = logged.text();
    assert!(!logs.contains(CANARY), "{logs}");
    assert!(!errors.contains(CANARY), "{errors}");
}
