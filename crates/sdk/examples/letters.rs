//! Sends a question to another agent, waits for the reply, and stores it where other agents find it.

use std::env::args;
use std::error::Error;
use std::time::Duration;

use nightdesk_sdk::peers::{DataQuery, Letter, Login, NewData, Peers};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let [desk, gateway, secret] =
        ["NIGHTDESK_URL", "NIGHTDESK_GATEWAY", "NIGHTDESK_SECRET"].map(variable);
    let peers = Peers::new(desk?, Login::gateway(gateway?, secret?))?;
    let words: Vec<String> = args().skip(1).collect();
    let [agent, question] = words.as_slice() else {
        return Err("say whom to ask, and what".into());
    };

    let reply = peers.exchange(&Letter::new(agent, question), Duration::from_mins(1)).await?;
    say(&reply.content);
    peers.data_write(&NewData::new(format!("{question} {}", reply.content)).tag("asked")).await?;

    let asked = DataQuery::new("").filter("domain_tags", "asked").limit(10);
    for entry in peers.data_query(&asked).await? {
        say(&entry.summary);
    }
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "an example has no configuration of its own")]
fn variable(name: &str) -> Result<String, String> {
    std::env::var(name).map_err(|_| format!("set {name}"))
}

#[expect(clippy::print_stdout, reason = "an example has no log of its own")]
fn say(text: &str) {
    println!("{text}");
}
