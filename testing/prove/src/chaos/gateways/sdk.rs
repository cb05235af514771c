//! The SDK as a gateway. What it says and hears is noted on the wire in front of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use nightdesk_sdk::{Agent, Event, SendError, Settings};
use tokio::net::TcpListener;

use super::tap;
use super::{Hall, Told};
use crate::setup::{ALSO, PLATFORM};

/// How many answers the SDK's agents give: to every so-manieth message.
const ANSWERS_EVERY: u64 = 3;

/// What was said so far, so that nothing is said twice.
static SAID: AtomicU64 = AtomicU64::new(0);

/// Lives until everything is over.
pub(super) async fn live(hall: Arc<Hall>, member: usize) {
    let mut told = hall.told.subscribe();
    // Without a port there is no line, and the judge misses the acks.
    let Ok(listener) = TcpListener::bind(("127.0.0.1", 0)).await else { return };
    let Ok(address) = listener.local_addr() else { return };
    let gateway = &hall.plan.cast.members[member];
    let settings =
        Settings::new(format!("http://{address}"), gateway.gateway.as_str(), &*gateway.secret)
            .speaking_for(PLATFORM, "")
            .speaking_for(ALSO, "");
    let Ok(agent) = Agent::connect(settings, take) else { return };
    tokio::select! {
        () = tap::listen(&hall, member, &listener) => {}
        _ = told.wait_for(|told: &Told| told.over) => {}
    }
    drop(agent);
}

/// Answers some of what people write, in words that nobody else says.
async fn take(event: Event) -> Result<(), SendError> {
    let Event::Message(message) = event else { return Ok(()) };
    // What is said to a letter is said to its sender, and goes to no platform.
    if message.content.message.letter.is_some() {
        return Ok(());
    }
    let number = SAID.fetch_add(1, Ordering::Relaxed);
    if number.is_multiple_of(ANSWERS_EVERY) {
        // Nobody waits for it, and what came of it is on the wire.
        drop(message.reply(format!("sdk-{}-{number}", std::process::id())).await);
    }
    Ok(())
}
