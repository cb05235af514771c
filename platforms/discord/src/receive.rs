//! Receives signed requests to a bot's interactions endpoint.

use std::sync::atomic::{AtomicU64, Ordering};

use nightdesk_kit::webhook::read_json;
use nightdesk_port::{Bot, Receive, ReceiveError, Received, SignedRequest, Taken};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::Discord;
use crate::words::{BUTTON, COMMAND, NoRooms, event};

mod signature;

pub use signature::{SIGNATURE_HEADER, TIMESTAMP_HEADER};

/// Interaction type of Discord's endpoint check.
const PING: u8 = 1;

/// Flag of a response that only one person sees.
const FOR_ONE: u64 = 1 << 6;

/// Counts parsed requests. Tests check that no unsigned request is parsed.
#[derive(Debug, Default)]
pub(crate) struct Reads(AtomicU64);

impl Reads {
    fn count(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    #[cfg(any(test, feature = "fuzz"))]
    pub(crate) fn so_far(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

#[derive(Deserialize)]
struct Kind {
    #[serde(rename = "type")]
    kind: u8,
}

impl Receive for Discord {
    fn receive(&self, bot: &Bot, request: &SignedRequest<'_>) -> Result<Received, ReceiveError> {
        signature::check(bot, request, self.clock.now())?;
        self.reads.count();
        let asked: Result<Kind, _> = read_json(request.body);
        if asked.is_ok_and(|asked| asked.kind == PING) {
            return Ok(Received::Challenge(json!({ "type": PING }).to_string().into_bytes()));
        }
        // An interaction contains its channel.
        match event(bot, &NoRooms, "INTERACTION_CREATE", request.body) {
            Ok(Some((draft, Some(capability)))) => {
                Ok(Received::Bearing(Box::new(draft), capability))
            }
            Ok(said) => {
                Ok(Received::Events(said.into_iter().map(|(draft, _)| Ok(draft)).collect()))
            }
            Err(error) => Ok(Received::Events(vec![Err(error)])),
        }
    }

    /// Builds the response, which Discord shows at once. Only a stored command gets "Thinking…".
    fn told(&self, request: &SignedRequest<'_>, taken: Taken) -> Vec<u8> {
        let asked: Result<Kind, _> = read_json(request.body);
        let kind = asked.map_or(0, |asked| asked.kind);
        answer(kind, taken).to_string().into_bytes()
    }
}

/// Returns the response to an interaction of this type.
pub(crate) fn answer(kind: u8, taken: Taken) -> Value {
    match (kind, taken) {
        (COMMAND, Taken::Kept) => json!({ "type": 5 }),
        // An autocomplete request gets an empty list of choices.
        (4, _) => json!({ "type": 8, "data": { "choices": [] } }),
        (BUTTON, Taken::Kept) => json!({ "type": 6 }),
        (_, Taken::Kept | Taken::Refused) => for_one("No agent here may answer you."),
        (_, Taken::NotKept) => for_one("This could not be saved. Please try again in a moment."),
    }
}

fn for_one(content: &str) -> Value {
    json!({ "type": 4, "data": { "flags": FOR_ONE, "content": content } })
}

#[cfg(test)]
mod tests;
