//! Works on each message until a person stops it, and shows a stop button meanwhile. It prints a line when a turn begins and
//! one when it stops, for `just stop`.

use std::error::Error;

use nightdesk_sdk::{Agent, Event, SendError, Settings};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let [url, gateway, secret] =
        ["NIGHTDESK_URL", "NIGHTDESK_GATEWAY", "NIGHTDESK_SECRET"].map(variable);
    let agent = Agent::connect(Settings::new(url?, gateway?, secret?), work)?;
    agent.ended().await?;
    Ok(())
}

async fn work(event: Event) -> Result<(), SendError> {
    let Event::Message(message) = event else { return Ok(()) };
    message.turn.ack().await;
    let (desk, place) = (message.turn.desk(), message.place());
    // A letter has no place for unfinished answers.
    let shown = desk.send(&place.clone().running(true), "working on it").await.ok();
    say("began", &message.content.source.chat_id);
    message.turn.stopped().await;
    say("stopped", &message.content.source.chat_id);
    if let Some(id) = shown.and_then(|shown| shown.message_id) {
        desk.edit(&place.running(false), id, "I stopped here").await?;
    }
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "an example has no configuration of its own")]
fn variable(name: &str) -> Result<String, String> {
    std::env::var(name).map_err(|_| format!("set {name}"))
}

#[expect(clippy::print_stdout, reason = "an example has no log of its own")]
fn say(what: &str, chat: &str) {
    println!("{what} {chat}");
}
