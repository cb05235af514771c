//! Answers each message with its text, exactly once, also if lines and results get lost. A message `wait 5 WORD` takes
//! five seconds, unless its turn is stopped. `nightdesk conformance agent` accepts this agent.

use std::error::Error;
use std::time::Duration;

use nightdesk_sdk::{Agent, Event, Message, SendError, Settings};
use tokio::time::sleep;

/// Pause before a reply is repeated.
const AGAIN_AFTER: Duration = Duration::from_millis(500);

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let [url, gateway, secret] =
        ["NIGHTDESK_URL", "NIGHTDESK_GATEWAY", "NIGHTDESK_SECRET"].map(variable);
    let agent = Agent::connect(Settings::new(url?, gateway?, secret?), echo)?;
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
    let Event::Message(message) = event else { return Ok(()) };
    tokio::select! {
        () = sleep(turn_time(message.text())) => reply(&message).await,
        () = message.turn.stopped() => Ok(()),
    }
}

async fn reply(message: &Message) -> Result<(), SendError> {
    loop {
        match message.reply_once(message.text()).await {
            Err(SendError::Unknown | SendError::NoLine | SendError::Busy) => {
                sleep(AGAIN_AFTER).await;
            }
            done => return done.map(drop),
        }
    }
}

fn turn_time(text: &str) -> Duration {
    let secs = text.strip_prefix("wait ").and_then(|rest| rest.split(' ').next());
    Duration::from_secs(secs.and_then(|secs| secs.parse().ok()).unwrap_or_default())
}

#[expect(clippy::disallowed_methods, reason = "an example has no configuration of its own")]
fn variable(name: &str) -> Result<String, String> {
    std::env::var(name).map_err(|_| format!("set {name}"))
}
