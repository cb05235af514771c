//! Acks a message at once, works on it for two minutes, and can be stopped.

use std::error::Error;
use std::time::Duration;

use nightdesk_sdk::{Agent, Event, Message, SendError, Settings};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let settings = Settings::new("https://desk.example", "my-gateway", "its secret")
        .speaking_for("discord", "1234567890");
    let agent = Agent::connect(settings, take)?;
    agent.ended().await?;
    Ok(())
}

async fn take(event: Event) -> Result<(), SendError> {
    let Event::Message(message) = event else { return Ok(()) };
    // Before the ack, store the message where it survives this process: the desk does not deliver it again.
    message.turn.ack().await;
    message.turn.desk().typing(&message.place()).await?;
    tokio::select! {
        answer = think(&message) => message.reply(answer).await.map(drop),
        () = message.turn.stopped() => message.reply("stopped").await.map(drop),
    }
}

async fn think(message: &Message) -> String {
    tokio::time::sleep(Duration::from_mins(2)).await;
    format!("I thought about {} characters", message.text().len())
}
