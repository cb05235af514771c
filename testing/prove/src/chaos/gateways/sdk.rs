//! Runs the SDK as a gateway. A tap on the wire in front of it records its frames.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use nightdesk_sdk::{Agent, Event, SendError, Settings};
use tokio::net::TcpListener;

use super::tap;
use super::{Hall, Told};
use crate::setup::{ALSO, PLATFORM};

/// The SDK's agents answer one message in this many.
const ANSWERS_EVERY: u64 = 3;

/// Number of messages so far, so that no answer is repeated.
static SAID: AtomicU64 = AtomicU64::new(0);

/// Runs until the run is over.
pub(super) async fn live(hall: Arc<Hall>, member: usize) {
    let mut told = hall.told.subscribe();
    // Without a port there is no line, and the judge reports the missing acks.
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

/// Answers some messages with texts that are unique in the run.
async fn take(event: Event) -> Result<(), SendError> {
    let Event::Message(message) = event else { return Ok(()) };
    // An answer to a letter goes to its sender and to no platform.
    if message.content.message.letter.is_some() {
        return Ok(());
    }
    let number = SAID.fetch_add(1, Ordering::Relaxed);
    if number.is_multiple_of(ANSWERS_EVERY) {
        // The result is not awaited, because the tap records it.
        drop(message.reply(format!("sdk-{}-{number}", std::process::id())).await);
    }
    Ok(())
}
