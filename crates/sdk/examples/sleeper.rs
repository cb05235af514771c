//! Answers each message with its text, and exits after a minute of quiet. With `--listen` it waits for wake calls
//! instead, and starts the agent for each.

use std::env::{args, current_exe};
use std::error::Error;
use std::net::SocketAddr;
use std::time::Duration;

use nightdesk_sdk::{Agent, Event, SendError, Settings, wake};
use tokio::process::Command;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let quiet_secs = argument("--quiet-secs").unwrap_or("60".to_owned());
    let running = async {
        match argument("--listen") {
            Some(address) => supervise(address.parse()?, &quiet_secs).await,
            None => run(Duration::from_secs(quiet_secs.parse()?)).await,
        }
    };
    tokio::select! {
        ended = running => ended,
        stopped = tokio::signal::ctrl_c() => Ok(stopped?),
    }
}

/// Runs the agent until it was quiet for long enough.
async fn run(quiet_for: Duration) -> Result<(), Box<dyn Error>> {
    let [url, gateway, secret] =
        ["NIGHTDESK_URL", "NIGHTDESK_GATEWAY", "NIGHTDESK_SECRET"].map(variable);
    let settings = Settings::new(url?, gateway?, secret?).sleep_after(quiet_for);
    let agent = Agent::connect(settings, echo)?;
    agent.ended().await?;
    Ok(())
}

/// Runs the part that never sleeps: a socket and a loop. A call that arrives while the agent is up or exiting is
/// stored, so the agent is started once more rather than once too little.
async fn supervise(address: SocketAddr, quiet_secs: &str) -> Result<(), Box<dyn Error>> {
    let calls = wake::Listener::bind(address, variable("NIGHTDESK_WAKE_SECRET")?).await?;
    say(&format!("listening at {}", calls.address()));
    loop {
        let mut agent = Command::new(current_exe()?);
        let ended = agent.args(["--quiet-secs", quiet_secs]).kill_on_drop(true).status().await?;
        say(&format!("the agent ended: {ended}"));
        calls.woken().await;
    }
}

async fn echo(event: Event) -> Result<(), SendError> {
    if let Event::Message(message) = event {
        message.reply(message.text()).await?;
    }
    Ok(())
}

fn argument(name: &str) -> Option<String> {
    args().skip_while(|given| given != name).nth(1)
}

#[expect(clippy::disallowed_methods, reason = "an example has no configuration of its own")]
fn variable(name: &str) -> Result<String, String> {
    std::env::var(name).map_err(|_| format!("set {name}"))
}

#[expect(clippy::print_stdout, reason = "an example has no log of its own")]
fn say(text: &str) {
    println!("{text}");
}
