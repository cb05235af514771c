//! The content of the logs.

use nightdesk_sdk::{Agent, Event, SendError, wake};
use nightdesk_testdesk::get;
use nightdesk_testkit::logs::Log;
use tracing_subscriber::util::SubscriberInitExt;

use crate::wire::{Street, on_another_line};

/// A word that only Ann writes.
const CANARY: &str = "canary-7c21";

async fn echo(event: Event) -> Result<(), SendError> {
    if let Event::Message(message) = event {
        message.reply(message.text()).await?;
    }
    Ok(())
}

/// Every library logs at its finest level, on one thread, so that no line escapes.
#[tokio::test]
async fn no_secret_token_or_text_is_logged() {
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt().with_max_level(tracing::Level::TRACE);
    let _guard = subscriber.with_writer(move || writer.clone()).finish().set_default();
    let mut street = Street::open().await;
    let agent = Agent::connect(street.settings(), echo).expect("good settings");
    agent.handshake().await.expect("a line");
    street.says(CANARY).await;
    assert_eq!(street.answer().await, CANARY);
    street.wire.cut();
    on_another_line(&agent).await;
    agent.go_idle().await;
    let calls = wake::Listener::bind(([127, 0, 0, 1], 0).into(), CANARY.repeat(2)).await;
    let calls = calls.expect("a free port");
    get(calls.address(), &format!("/wake/{CANARY}{CANARY}"), &[]).await;
    calls.woken().await;

    let text = log.text();
    assert!(text.contains("line to the desk: Live"), "the log is on");
    assert!(text.contains("dialling again in"), "losses are told");
    assert!(text.contains("the agent was called"), "so are calls");
    let ours: Vec<&str> = text.lines().filter(|line| line.contains("nightdesk_sdk")).collect();
    assert!(!ours.is_empty());
    street.ann.secret.with(|secret| assert!(!text.contains(secret), "the secret"));
    // Every token begins with the gateway's name.
    assert!(!text.contains("Z3ctMT"), "a token");
    assert!(!ours.iter().any(|line| line.contains(CANARY)), "what Ann said, or who may call");
}
