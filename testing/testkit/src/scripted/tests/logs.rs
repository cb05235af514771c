use nightdesk_types::send::Op;

use super::deliver::{answering, delivered_to, send};
use super::*;
use crate::logs::{Log, chain};

const CANARY: &str = "canary-7f3a";

/// Returns everything that could leak a canary: the log, and the texts of errors.
async fn sung() -> String {
    let mut errors = String::new();
    let broken = format!(r#"{{"id": "{CANARY}", "event": {{"source": "{CANARY}"}}}}"#);
    let cut = broken[..40].to_owned();
    for body in [&broken, &cut] {
        let signature = sign(KEY, body.as_bytes());
        for signature in [signature.as_str(), "00"] {
            match received(body.as_bytes(), signature) {
                Err(error) => errors += &chain(&error),
                Ok(events) => errors.extend(events.into_iter().map(|e| chain(&e.unwrap_err()))),
            }
        }
    }
    let op = Op::Send { content: CANARY.to_owned(), reply_to: None };
    let echo = format!(r#"{{"code": "you said {CANARY}"}}"#);
    for status in [200, 307, 400, 403, 429, 500] {
        let body = if status == 200 { CANARY } else { &echo };
        let address = answering(status, "", body).await;
        errors += &chain(&delivered_to(address, &send(op.clone())).await.unwrap_err());
    }
    errors
}

#[tokio::test]
async fn no_word_of_an_event_or_a_send_is_in_a_log_or_an_error() {
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
    assert!(!logs.contains(KEY), "{logs}");
    assert!(!errors.contains(CANARY), "{errors}");
}
