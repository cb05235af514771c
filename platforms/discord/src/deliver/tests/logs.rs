use std::sync::Arc;

use nightdesk_port::{Listen, UnlimitedBudget};
use nightdesk_testkit::FakeClock;
use nightdesk_testkit::logs::{Log, chain};

use super::*;
use crate::DiscordUrls;
use crate::tests::gateway::Gateway;

/// A text that must not be in any log. It is also part of the bot's key.
const CANARY: &str = "canary";

/// All levels except for the socket library, which logs every frame; the desk never enables that.
const LEVELS: &str = "trace,tungstenite=info,tokio_tungstenite=info";

/// Returns the error texts of a failed message and of a failed answer to an interaction.
async fn sung() -> String {
    let mut errors = String::new();
    let lent = Key::new(format!("{CANARY}-token"));
    let follow_up = Op::FollowUp {
        session_key: String::new(),
        kind: String::new(),
        content: CANARY.to_owned(),
    };
    let (said, answered) = (to(CHANNEL, text(CANARY)), to(CHANNEL, follow_up));
    for status in [0, 400, 401, 403, 404, 429, 500, 200] {
        let stub = Stub::open().await;
        let discord = discord_at(&stub.url);
        for _ in 0..2 {
            match status {
                0 => stub.hang_up(),
                status => stub.answer(status, json!({ "message": CANARY, "id": CANARY })),
            }
        }
        errors += &chain(&discord.deliver(&bot(), &said).await.unwrap_err());
        errors += &chain(&discord.follow_up(&bot(), &answered, &lent).await.unwrap_err());
    }
    let nowhere = discord_at("http://127.0.0.1:1");
    errors += &chain(&nowhere.deliver(&bot(), &said).await.unwrap_err());
    errors += &chain(&nowhere.follow_up(&bot(), &answered, &lent).await.unwrap_err());
    errors + &format!("{nowhere:?} {:?}", bot())
}

/// Listens on the gateway, to which the key is sent first, and returns the error texts.
async fn heard() -> String {
    let (gateway, stub) = (Gateway::open().await, Stub::open().await);
    let at = DiscordUrls { api: &stub.url, gateway: &gateway.url, cdn: &stub.url };
    let clock = Arc::new(FakeClock::default());
    let discord = Discord::open(at, clock, Arc::new(UnlimitedBudget)).unwrap();
    let bot = bot();
    let (heard, line) = tokio::join!(discord.listen(&bot, None), async {
        let mut line = gateway.ready().await;
        line.says(2, CANARY).await;
        line
    });
    assert!(!heard.unwrap().is_empty());
    drop(gateway);
    let (refused, ()) = tokio::join!(discord.listen(&bot, None), line.close(4004));
    refused.err().map(|error| chain(&error)).unwrap_or_default()
}

#[tokio::test]
async fn no_word_no_key_and_no_token_is_in_a_log_or_an_error() {
    let logged = Log::default();
    let writer = logged.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter(LEVELS)
        .with_writer(move || writer.clone())
        .finish();
    let guard = tracing_subscriber::util::SubscriberInitExt::set_default(subscriber);

    let errors = sung().await + &heard().await;
    drop(guard);
    let logs = logged.text();
    assert!(!logs.contains(CANARY), "{logs}");
    assert!(!errors.contains(CANARY), "{errors}");
}
