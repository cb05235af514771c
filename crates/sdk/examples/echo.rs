//! Answers each message with its text.

use std::error::Error;

use nightdesk_sdk::{Agent, Event, SendError, Settings};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let [url, gateway, secret] =
        ["NIGHTDESK_URL", "NIGHTDESK_GATEWAY", "NIGHTDESK_SECRET"].map(variable);
    let agent = Agent::connect(Settings::new(url?, gateway?, secret?), echo)?;
    agent.handshake().await?;
    tokio::select! {
        ended = agent.ended() => {
            ended?;
        }
        _ = tokio::signal::ctrl_c() => {
            agent.go_idle().await;
        }
    }
    Ok(())
}

async fn echo(event: Event) -> Result<(), SendError> {
    if let Event::Message(message) = event {
        message.reply(message.text()).await?;
    }
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "an example has no configuration of its own")]
fn variable(name: &str) -> Result<String, String> {
    std::env::var(name).map_err(|_| format!("set {name}"))
}
